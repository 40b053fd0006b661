# shellcheck shell=sh disable=SC2154  # root is set by the script that sources this
# Sourced by the scripts beside it. Makes environments of this clone's own: the user's active
# environment is neither used nor changed.

# The language is chosen as envdoctor itself does, but for --lang.
text() { # ENGLISH CHINESE
    case ${ENVDOCTOR_LANG:-${LC_ALL:-${LC_MESSAGES:-${LANG:-}}}} in
    zh | zh[_-]?? | zh[_-]*.[Uu][Tt][Ff]*8) printf '%s' "$2" ;;
    *) printf '%s' "$1" ;;
    esac
}

fail() {
    printf '%s: %s\n' "$0" "$1" >&2
    exit 3
}

# `-I` keeps the user's PYTHONPATH, PYTHONHOME and user site out of our interpreters.
python_version() { # COMMAND -> "3.11"; fails if it cannot make an environment for us
    "$1" -I -c '
import ensurepip, sys, venv
if sys.version_info < (3, 8): sys.exit(1)
print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

choose_python() { # -> the command of an interpreter: $PYTHON, or the first on PATH that can serve
    if [ -n "${PYTHON:-}" ]; then
        python_version "$PYTHON" >/dev/null ||
            fail "$(text \
                "PYTHON=$PYTHON is not a Python 3.8 or newer with the modules venv and ensurepip" \
                "PYTHON=$PYTHON 不是带有 venv 和 ensurepip 模块的 Python 3.8 或更高版本")"
        echo "$PYTHON"
        return
    fi
    for candidate in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9 \
        python3.8 /usr/bin/python3; do
        if python_version "$candidate" >/dev/null; then
            echo "$candidate"
            return
        fi
    done
    fail "$(text "found no Python 3.8 or newer with the modules venv and ensurepip.
Debian, Ubuntu: apt-get install python3-venv. Elsewhere: PYTHON=/path/to/python3 $0" \
        "找不到带有 venv 和 ensurepip 模块的 Python 3.8 或更高版本。
Debian、Ubuntu：apt-get install python3-venv。其他系统：PYTHON=/path/to/python3 $0")"
}

is_prepared() { # DIRECTORY MARK
    { read -r mark && read -r with; } 2>/dev/null <"$1/prepared" || return 1
    [ "$mark" = "$2" ] && [ "${PYTHON:-$with}" = "$with" ] && "$1/bin/python" -I -c "" 2>/dev/null
}

# Makes the environment DIRECTORY with this clone in it, in place, and its extras ("" or "[test]").
# Done once, and again when pyproject.toml, the clone's path or PYTHON has changed.
prepare() { # DIRECTORY EXTRAS
    wanted="$root$2 $(cksum <"$root/pyproject.toml")"
    ! is_prepared "$1" "$wanted" || return 0
    python=$(choose_python)
    [ -w "$root" ] || fail "$(text "cannot write to $root" "无法写入 $root")"
    # Processes that start together (the ranks of a job) wait for the first.
    exec 9>>"$1.log"
    ! command -v flock >/dev/null || flock 9
    if ! is_prepared "$1" "$wanted"; then
        echo "$(text "Setting up ${1#"$root"/} with $python, once ..." \
            "正在用 $python 建立 ${1#"$root"/}，只需一次……")" >&2
        (
            # Settings that would put packages elsewhere, or that pin another environment's.
            unset PIP_TARGET PIP_PREFIX PIP_ROOT PIP_CONSTRAINT PIP_REQUIREMENT PIP_NO_DEPS
            export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1
            rm -rf "$1" &&
                "$python" -I -m venv "$1" &&
                "$1/bin/python" -I -m pip install --quiet --editable "$root$2"
        ) >"$1.log" 2>&1 </dev/null 9>&- || {
            cat "$1.log" >&2
            fail "$(text "the lines above say why $1 could not be set up" \
                "以上输出说明了为什么无法建立 $1")"
        }
        printf '%s\n%s\n' "$wanted" "$python" >"$1/prepared"
    fi
    exec 9>&-
}
