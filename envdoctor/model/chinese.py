"""The texts of the code in Chinese, by their English templates.

Fields, `{name}`, stand in both, in any order. In `SAID` are texts that the code asks for in a
language; in `WRITTEN` those that are finished in English before anybody knows the language, which
are recognized by what stands between their fields: that must be telling. A text of several clauses
is looked up clause by clause, those before and after "; " and ": ", if the whole is not known.
"""

from __future__ import annotations

from typing import Dict

SAID: Dict[str, str] = {
    # stacks and cores
    "{what} is not known; {names} asks for it [{ids}]": "{what} 未知，{names} 对它有要求 [{ids}]",
    ", and because ": "；又因为",
    "{fixed} do not go together, because {because}": "{fixed} 不能并存，因为 {because}",
    "{fixed} cannot be had, because {because}": "{fixed} 无法满足，因为 {because}",
    "in an image: {image}": "改在镜像里：{image}",
    "as it is asked for, with patched sources: {patches}": "保持原要求，但给源码打补丁：{patches}",
    # marks and small words
    ", ": "、",
    "; ": "；",
    ": ": "：",
    " and ": " 和 ",
    " or ": " 或 ",
    "none": "无",
    "unknown": "未知",
    "none known": "（无已知版本）",
    "not said": "未说明",
    "not looked for": "未查找",
    "{number} more": "另外 {number} 个",
    "{first} to {last}": "{first} 至 {last}",
    # what folders outside of the environment cause
    "{summary}; it comes from {place}": "{summary}；它来自 {place}",
    "take {place} off the search path, or mend it there": "把 {place} 移出搜索路径，或者在那里修好它",
    "take {place} off the search path: without it this is gone": "把 {place} 移出搜索路径：没有它就没有这个问题",
    "{why}; without that folder there would be no {findings}": "{why}；没有这个目录，就不会有 {findings}",
    "where no window is shown: {package}, which needs none of them": (
        "不显示窗口的话：换成 {package}，它不需要这些库"
    ),
    # reading binaries
    "envdoctor: binaries: {done} of {number}": "envdoctor：二进制文件：{done}/{number}",
    "envdoctor: {verdict} without the binaries; reading these now": "envdoctor：不看二进制文件：{verdict}；现在读取它们",
    "Matrices: {folders} over those that ship": "兼容矩阵：{folders}，覆盖自带的",
    # grids
    "prebuilt": "现成",
    "source": "源码",
    "untested": "未验证",
    "?": "？",
    "a wheel that exists fits as it is": "有现成的 wheel 包，可直接使用",
    "{package} {version} fits what is here, and a wheel of it exists": (
        "{package} {version} 与现有环境匹配，并且有现成的 wheel 包"
    ),
    "only a build from source can fit": "只有从源码编译才行",
    "nothing that is known fits": "已知的构建都不行",
    "newer than the matrices": "比兼容矩阵更新",
    "it cannot be told": "无法判断",
    "{rows} by {columns}": "{rows} 与 {columns}",
    "GPUs": "显卡",
    "For any machine.": "不限机器。",
    "For {machine}. What is not named here is not asked.": "适用于 {machine}。未列出的条件不作判断。",
    "to": "至",
    "Why no": "为什么不行",
    "{mark} It fits, but": "{mark} 可以一起用，但是",
    "{number} pair": "{number} 对",
    "{number} pairs": "{number} 对",
    "{pairs}, as {row} and {column}:": "{pairs}，例如 {row} 与 {column}：",
    "What the cells say": "单元格的含义",
    "rows: releases of {rows}; columns: {columns}": "行：{rows} 的版本；列：{columns}",
    # stacks
    "It could not be found out: the search was ended at its limit.": "无法得出结论：搜索到达上限后停止。",
    "It could not be found out: {reason}": "无法得出结论：{reason}",
    "Not as the authors pinned it.": "作者指定的版本在这里不可行。",
    "As the authors pinned it.": "作者指定的版本可行，无需改动。",
    "There is a stack.": "有可行的版本组合。",
    "There is no such stack.": "没有可行的版本组合。",
    "{asked}, for {target} on {machine}": "{asked}；安装到{target}；机器：{machine}",
    "{asked}, for {target}": "{asked}；安装到{target}",
    "this environment": "当前环境",
    "a new environment": "新环境",
    "an image": "镜像",
    "The reason:": "原因：",
    "Two reasons, each enough:": "原因有两个，每一个都足以排除：",
    "Three reasons, each enough:": "原因有三个，每一个都足以排除：",
    "Four reasons, each enough:": "原因有四个，每一个都足以排除：",
    "Five reasons, each enough:": "原因有五个，每一个都足以排除：",
    "Reasons, each enough:": "原因如下，每一个都足以排除：",
    "There are more reasons.": "此外还有别的原因。",
    "{claim}.": "{claim}。",
    "{claim}, because {reasons}.": "{claim}，因为 {reasons}。",
    "{wanted} cannot be had with {facts}": "{facts} 上无法满足 {wanted}",
    "{wanted} cannot be had": "无法满足 {wanted}",
    "{wanted} exclude each other": "{wanted} 互相冲突",
    "nothing can be had with {facts}": "{facts} 上没有任何可行的组合",
    "{first}, because {second}": "{first}；{second}",
    "{first}, and {second}": "{first}；{second}",
    "{first}, and because {second}": "{first}；并且 {second}",
    "{first} and {last}": "{first} 和 {last}",
    "{names} plays no part.": "与 {names} 无关。",
    "{names} play no part.": "与 {names} 无关。",
    "{number} build": "{number} 个构建",
    "{number} builds": "{number} 个构建",
    "{builds} of {component}": "{component} 的 {builds}",
    "{releases} ({builds})": "{releases}（{builds}）",
    "Rejected: {builds}": "排除的构建：{builds}",
    "Stack (proved: no better one)": "版本组合（已证明没有更好的）",
    "Stack (a better one is not ruled out)": "版本组合（不排除有更好的）",
    "Nearest stack (proved: no better one)": "最接近的版本组合（已证明没有更好的）",
    "Nearest stack (a nearer one is not ruled out)": "最接近的版本组合（不排除有更接近的）",
    "{number} source patch: ": "{number} 个源码补丁：",
    "{number} source patches: ": "{number} 个源码补丁：",
    "instead of {pin}": "代替 {pin}",
    "patched: {names}": "打补丁：{names}",
    "built from the code": "用代码本身编译",
    "of this machine": "本机",
    "of the image": "镜像自带",
    "built from {folder} of the code": "用代码中的 {folder} 编译",
    "built from source": "从源码编译",
    "dropped pins": "放弃的版本指定",
    "distance from pins": "与指定版本的差距",
    "source patches": "源码补丁",
    "changes": "改动",
    "source builds": "源码编译",
    "steps from tested": "与已验证版本的差距",
    "age": "版本陈旧度",
    "Changes": "改动",
    "{component} {before} to {after}": "{component} {before} 换成 {after}",
    "{component} {after} is added": "新装 {component} {after}",
    "{component} {before} is removed": "移除 {component} {before}",
    "The authors contradict themselves": "作者的说明自相矛盾",
    "{sides}; taken: {side}": "{sides}；采用 {side}",
    "{sides}; neither is taken": "{sides}；都未采用",
    "PyPI: {packages}": "PyPI：{packages}",
    "{number} more reason (--explain)": "另有 {number} 个原因（--explain）",
    "{number} more reasons (--explain)": "另有 {number} 个原因（--explain）",
    "Installer": "安装工具",
    "{number} of {all} files are there": "{all} 个文件中有 {number} 个存在",
    "missing: {file}: {reason}": "缺少：{file}：{reason}",
    "not asked: {file}: {reason}": "未询问：{file}：{reason}",
    "; nearest: {names}": "；最接近的是 {names}",
    "Unchecked": "未核实",
    "The rest": "其余依赖",
    "Bounds": "对其余依赖的限制",
    "Learned": "从安装工具得知",
    "Tree": "全部依赖",
    "{number} distribution": "{number} 个包",
    "{number} distributions": "{number} 个包",
    "without {names}: {reason}": "不含 {names}：{reason}",
    "Notes": "说明",
    "and {number} more (--explain)": "另有 {number} 项（--explain）",
    "What would do": "可行的办法",
    "Other ways": "其他办法",
    "Sources": "来源",
    # what the matrices say of builds
    "is": "类型",
    "processor": "处理器",
    "for torch": "对应 torch",
    "C++ ABI": "C++ ABI",
    "PTX": "PTX",
    "Python tags": "Python 标签",
    "C++ standard": "C++ 标准",
    "compiles": "编译内容",
    "releases": "版本",
    "requires": "依赖",
    "wheel": "wheel 包",
    "sources": "源码",
    "conda's": "conda 的构建",
    "a vendor's": "厂商的构建",
    "any": "不限",
    "yes": "是",
    "no": "否",
    "not known": "未知",
    "none that is known": "已知版本都不行",
    "every release that is known": "所有已知版本",
    "no wheel; nothing known rules out its sources": "没有 wheel 包；没有已知理由排除从源码编译",
    "with a build from source: {releases}": "其中有包要从源码编译：{releases}",
    ", of {releases} only those for CUDA {cudas}": ("，其中 {releases} 只限 CUDA {cudas} 的构建"),
    "{number}, {first} to {last}": "{number} 个，{first} 至 {last}",
    "{number} build is known": "已知 {number} 个构建",
    "{number} builds are known": "已知 {number} 个构建",
    ", {number} of them fit": "，其中 {number} 个合适",
    "{number}: the old one": "{number}：旧的",
    "{number}: the new one": "{number}：新的",
    "{version} or newer": "{version} 或更新",
    "{version} or newer, for code of CUDA {cuda}": "{version} 或更新，用于 CUDA {cuda} 的代码",
    "{version} or newer, to compile its PTX": "{version} 或更新，用于编译其 PTX",
    "C++{number}, which its headers need": "C++{number}，其头文件需要",
    "runs on": "可运行于",
    "not on": "不能运行于",
    " by PTX": " 经 PTX",
    " ({builds})": "（{builds}）",
    "and {number} more (--verbose)": "另有 {number} 个（--verbose）",
    "matrices of {date}": "{date} 的兼容矩阵",
    "checked {date}": "核对于 {date}",
    "of": "属于",
    "gone since": "移除于",
    "there again since": "恢复于",
    "there since": "始于",
    "if it is given": "传入时",
    "if not given": "未传入时",
    "instead": "替代",
    "finding": "问题",
    "No command is known for {name}: its wheel was not seen on a page.": (
        "不知道 {name} 的安装命令：没有在下载页面上见过它的 wheel 包。"
    ),
    ", with {number} warning": "，但有 {number} 条警告",
    ", with {number} warnings": "，但有 {number} 条警告",
    "{names}: a wheel exists": "{names}：有 wheel 包",
    "{names} fit: wheels exist for it": "{names} 可以一起用：有现成的 wheel 包",
    "{names}: only to be built from source": "{names}：只能从源码编译",
    "{names} fit only if built from source": "{names} 只有从源码编译才能一起用",
    "{names}: no": "{names}：不行",
    "{names} do not fit": "{names} 不能一起用",
    "{names}: untested": "{names}：未验证",
    "{names}: it cannot be told": "{names}：无法判断",
    "{names}: it cannot be told whether they fit": "{names}：无法判断能否一起用",
    "Why": "原因",
    "Why: each of these is enough": "原因：下面每一条都足以排除",
    "Why: together these reject every build": "原因：下面几条合起来排除了所有构建",
    "Without that it would still be no": "即使没有这些，仍然不行，因为",
    "It fits, but": "可以一起用，但是",
    "A source patch mends it: {patch}": "有源码补丁可以解决：{patch}",
    "Relations": "约束关系",
    "Relations that hold": "成立的约束关系",
    "{number} relations of {packages} other packages (--verbose)": (
        "另外 {packages} 个软件包的 {number} 条约束关系（--verbose）"
    ),
    "Install": "安装",
    "Install one of these": "安装其中之一",
    "To be built from source: {names}": "需要从源码编译：{names}",
    "Beside it": "与它搭配",
    "What fits instead, the rest unchanged": "其余不变时，换成什么可以",
    "Releases whose builds run on it": "有构建可在其上运行的版本",
    "Releases with builds for it": "有对应构建的版本",
    # severities, phases, bases
    "error": "错误",
    "warning": "警告",
    "info": "提示",
    "error or warning": "错误或警告",
    "error or info": "错误或提示",
    "warning or info": "警告或提示",
    "error or warning or info": "错误、警告或提示",
    "resolve": "依赖解析",
    "build": "编译",
    "install": "安装",
    "import": "导入",
    "run": "运行",
    "RESOLVE": "依赖解析",
    "BUILD": "编译",
    "INSTALL": "安装",
    "IMPORT": "导入",
    "RUN": "运行",
    "measured": "实测",
    "vendor": "厂商说明",
    "maintainer": "维护者说明",
    "documented": "文档记载",
    "inferred": "推断",
    # the report
    "{number} error": "{number} 个错误",
    "{number} errors": "{number} 个错误",
    "{number} warning": "{number} 个警告",
    "{number} warnings": "{number} 个警告",
    # source trees of projects
    "{number} line": "{number} 行",
    "{number} lines": "{number} 行",
    "{name} by {instead}": "{name} 换成 {instead}",
    "source: {source}": "来源：{source}",
    "{name} by nothing (delete the line)": "{name} 所在的行删掉",
    "gone since {component} {version}": "{component} {version} 起已移除",
    "changed in {component} {version}": "{component} {version} 起有变化",
    "new in {component} {version}": "{component} {version} 起才有",
    "; {number} note": "；{number} 条提示",
    "; {number} notes": "；{number} 条提示",
    "; {number} ignored": "；忽略 {number} 个",
    "; {number} known": "；已接受 {number} 个",
    "; {number} part of the check failed": "；有 {number} 项检查自身出错",
    "; {number} parts of the check failed": "；有 {number} 项检查自身出错",
    "Failed, which is a fault of envdoctor's own, to be reported with a snapshot: {parts}": (
        "以下检查自身出错，这是 envdoctor 的缺陷，请附快照反馈：{parts}"
    ),
    " (--verbose)": "（--verbose 查看）",
    "not examined: no Python environment": "未检查：没有 Python 环境",
    "nothing found wrong": "未发现问题",
    "({seconds} s)": "（用时 {seconds} 秒）",
    "Target: {target}": "环境：{target}",
    "Assumed: {assumed}": "假设：{assumed}",
    "{what} ({by})": "{what}（{by}）",
    "Configuration: {file}": "配置：{file}",
    "Ignored: {names}.": "已忽略：{names}。",
    "Known by {file}: {names}.": "{file} 已接受：{names}。",
    "Gone, and still in {file}: {names}.": "已不再出现，但仍在 {file} 中：{names}。",
    "Source: {source}, checked {date}": "依据：{source}，核对于 {date}",
    "- and {number} more (--verbose)": "- 另有 {number} 条（--verbose 查看）",
    "… and {number} more of this kind (--verbose)": "…… 同类问题另有 {number} 个（--verbose 查看）",
    "Smallest change: {change}": "最小改动：{change}",
    "Or: {change}": "或者：{change}",
    "Look yourself:": "自行验证：",
    "{number} finding told in short (--verbose).": "{number} 个问题只列概要（--verbose 查看详情）。",
    "{number} findings told in short (--verbose).": "{number} 个问题只列概要（--verbose 查看详情）。",
    "Ruled out: {names}.": "已排除：{names}。",
    "Ruled out: {names} and {number} more.": "已排除：{names} 等，另有 {number} 项。",
    "Skipped: {number} (--verbose).": "跳过：{number} 项（--verbose 查看）。",
    "Skipped:": "跳过：",
    "{code}: {reason}": "{code}：{reason}",
    # the overview
    "Stack": "组合",
    "what to install for one of them, and why": "给出其中一个模型要装的版本和理由",
    "GPU": "显卡",
    "Target": "环境",
    "Compile": "编译",
    "Assumed": "假设",
    "Verdict": "结论",
    "Next": "下一步",
    "Models": "模型",
    "Never imports your torch, changes or sends anything. Matrices of {date}.": (
        "只读：不导入您的 torch，不修改、不发送任何内容。兼容矩阵版本：{date}。"
    ),
    "; {number} question skipped": "；{number} 项检查被跳过",
    "; {number} questions skipped": "；{number} 项检查被跳过",
    "{component}: {summary}": "{component}：{summary}",
    "{model}: {state}": "{model}：{state}",
    "ready": "可用",
    "new env": "新建环境",
    "not as pinned": "需换版本",
    "GPU unknown": "显卡未知",
    "not judged": "未判断",
    "name the environment that trains": "指定用于训练的环境",
    "the evidence and the smallest change": "查看依据和最小改动",
    "judge for the GPU and driver that train": "按训练用的显卡和驱动判断",
    "what was looked at, what was skipped and why": "查看检查了什么、跳过了什么及原因",
    # the machine and the environment
    "none: {reason}": "无：{reason}",
    "unknown: {reason}": "未知：{reason}",
    "unknown: not looked for": "未知：未查找",
    "{maker}: {gpus}": "{maker}：{gpus}",
    "{maker}, devices not known: {reason}": "{maker}，设备未知：{reason}",
    "; driver unknown: {reason}": "；驱动未知：{reason}",
    ", driver {version}": "，驱动 {version}",
    "; what it serves is unknown: {reason}": "；所支持的 CUDA 版本未知：{reason}",
    ": runs builds up to CUDA {version}": "：可运行 CUDA {version} 及更早的构建",
    ": runs CUDA {major}.x builds and older": "：可运行 CUDA {major}.x 及更早的构建",
    "{files} (what they ask for)  Python {python}": "{files}（其中要求的依赖）  Python {python}",
    "{place} ({origin})": "{place}（{origin}）",
    "no torch": "没有 torch",
    "torch, version unknown: {reason}": "torch，版本未知：{reason}",
    "C++ compiler": "C++ 编译器",
    "no {tool}": "缺少 {tool}",
    ", no ": "、",
    ": wheels install, CUDA sources do not compile ({reason})": (
        "：可以安装 wheel 包，但无法编译 CUDA 源码（{reason}）"
    ),
    "; torch's own CUDA": "；与 torch 的 CUDA 一致",
    "; torch was built for CUDA {cuda}": "；而 torch 是为 CUDA {cuda} 构建的",
    "driver": "驱动",
    # pages
    "{code} {name} ({severities}, phase {phase})": "{code} {name}（{severities}，{phase} 阶段）",
    "{code} {name} ({severities}, {phase})": "{code} {name}（{severities}，{phase} 阶段）",
    # changes
    "{number} package: ": "{number} 个包：",
    "{number} packages: ": "{number} 个包：",
    "{names} and {number} more": "{names} 等，另有 {number} 个",
    "mended by the change of {finding}: {change}": "随 {finding} 的改动一并解决：{change}",
    "then again, as compiled for the old one: {names}": (
        "随后重新编译安装以下包，它们是针对旧版本编译的：{names}"
    ),
    "none found: exchanging one package, with those that depend on it, does not mend this": (
        "未找到：只更换一个包（连同依赖它的包）无法解决此问题"
    ),
    "{package} is {build}": "{package} 是 {build}",
    "; {reasons}, and stays": "；{reasons}，予以保留",
    " (a wheel is likely, none was seen)": "（很可能有 wheel 包，但尚未确认）",
    "install {package}": "安装 {package}",
    "compile {package} again": "重新编译 {package}",
    "compile {package} again for {cause}": "针对 {cause} 重新编译 {package}",
    "{package} again": "重新安装 {package}",
    "{package} again for {cause}": "针对 {cause} 重新安装 {package}",
    " (with conda, which installed it)": "（用 conda，它由 conda 安装）",
    "{number} line: ": "{number} 行：",
    "{number} lines: ": "{number} 行：",
    "{file}: add {line}": "{file}：添加 {line}",
    "{file}: add under {heading}: {line}": "{file}：在 {heading} 下添加 {line}",
    "under {heading}: {line}": "在 {heading} 下添加 {line}",
    ' and source = "{name}" to {packages}': '，并给 {packages} 加上 source = "{name}"',
    ' and index = "{name}" to {packages}': '，并给 {packages} 加上 index = "{name}"',
    "{file} cannot name a page: give pip {option}": "{file} 里无法写下载页面：安装时给 pip 加上 {option}",
    " (lock again with {requirement})": "（以 {requirement} 重新锁定）",
    "leave that card out of the training: CUDA_VISIBLE_DEVICES=N for the others (nvidia-smi -L lists them)": (
        "训练时不用那块显卡：用 CUDA_VISIBLE_DEVICES=N 指定其余的（nvidia-smi -L 会列出）"
    ),
    "whichever build for CUDA it is: {summary}": "无论是哪个 CUDA 构建：{summary}",
    "pip would take {taken}: {summary}": "pip 会选择 {taken}：{summary}",
    "with {python}, pip would take {taken}: {summary}": "使用 {python} 时，pip 会选择 {taken}：{summary}",
    "{asked}; pip would take {taken}": "{asked}；pip 会选择 {taken}",
    "{release} as sources": "{release} 源码包",
    # what a change would come to
    "It cannot be installed here: {reason}": "这里装不了：{reason}",
    "A separate environment is safer: {reason}": "单独建一个环境更安全：{reason}",
    "It breaks {names}, and nothing known mends that": "会弄坏 {names}，而且没有已知办法补救",
    "It breaks {names}; what else must move mends that": "会弄坏 {names}；一并更换下列包即可补救",
    "Nothing breaks for certain; {number} thing may": "没有一定会坏的；有 {number} 处可能出问题",
    "Nothing breaks for certain; {number} things may": "没有一定会坏的；有 {number} 处可能出问题",
    "Harmless: nothing that works here would break": "无影响：现在能用的都不会坏",
    "Nothing is known to break, but not all could be told": "未发现会坏的，但有些无法判断",
    "Change: {change}": "改动：{change}",
    "{package} is removed": "卸载 {package}",
    "Would break": "会失效的",
    "Commands": "命令",
    "Files": "文件",
    "of no distribution": "不属于任何包的文件",
    "{package} needs {names}: {reason}": "{package} 需要 {names}：{reason}",
    "{number} more file is not listed": "另有 {number} 个文件未列出",
    "{number} more files are not listed": "另有 {number} 个文件未列出",
    "Would be whole again": "会恢复正常",
    "Must move as well": "必须一并更换",
    "{package}, another build": "{package}，换成另一个构建",
    "nothing known mends {names}": "{names} 没有已知办法补救",
    "A separate environment": "单独的环境",
    "Not known:": "无法判断：",
    "Taken for granted: {text}": "前提：{text}",
    "to be compiled again: {why}": "需要重新编译：{why}",
    "{file} keeps pip out of this Python: it is the system's": "{file} 不让 pip 改动这个 Python：它属于系统",
    "{package} is {build}: what replaces it cannot bring it back": "{package} 是 {build}：一旦替换就找不回来",
    "{package} comes from {place}: what is installed here stands behind it": (
        "{package} 来自 {place}：装在这里的排在它后面"
    ),
    "{package} is not to be had for Python {version} and this system": (
        "{package} 没有适用于 Python {version} 和本系统的安装包"
    ),
    "{number} other package has to move": "另有 {number} 个包必须更换",
    "{number} other packages have to move": "另有 {number} 个包必须更换",
    "installed in place, others' work may rest on it: {names}": "以可编辑方式安装，可能有人正在用：{names}",
    "this Python, with {number} distributions, is the system's own or everybody's": (
        "这个 Python 装有 {number} 个包，是系统自带或大家共用的"
    ),
    "this is conda's base environment, with {number} distributions": (
        "这是 conda 的 base 环境，装有 {number} 个包"
    ),
    "this Python, with {number} distributions, is the image's own": (
        "这个 Python 装有 {number} 个包，是镜像自带的"
    ),
    "binaries were not read": "没有读取二进制文件",
    "which files are linked to {names} is not known: {reason}": "不知道哪些文件链接到 {names}：{reason}",
    "which other files were compiled for NumPy 1 is not known: {reason}": (
        "不知道还有哪些文件是针对 NumPy 1 编译的：{reason}"
    ),
    "compiled for NumPy 1, and {new} refuses that": "针对 NumPy 1 编译，{new} 拒绝加载",
    "{package} has them, and would be gone": "它们在 {package} 中，会随之消失",
    "{old} serves them under this number, {new} under another": "{old} 提供的是这个编号，{new} 是另一个",
    "whether {new} has {names} is not known": "不知道 {new} 里有没有 {names}",
    "compiled for {old}, another one is here then": "针对 {old} 编译，到时就不是它了",
    "compiled for {old}: the C++ interface of {new} is another one": (
        "针对 {old} 编译：{new} 的 C++ 接口与之不同"
    ),
    "compiled for the C++ ABI of {old}, and {new} has the other one": (
        "按 {old} 的 C++ ABI 编译，而 {new} 用的是另一种"
    ),
    "{new} has no {library}": "{new} 不带 {library}",
    "{package} needs {name}": "{package} 需要 {name}",
    "{package} was compiled for {old}, and not for {new}": "{package} 是针对 {old} 编译的，不是 {new}",
    "{number} file of it would not load": "其中 {number} 个文件无法加载",
    "{number} files of it would not load": "其中 {number} 个文件无法加载",
    "compiled, and what for is not known": "含编译代码，不知道针对什么编译",
    "whether {package}, made for NVIDIA's GPUs, runs on {vendor} is not known": (
        "{package} 面向 NVIDIA 显卡，不知道能否在 {vendor} 上运行"
    ),
    "whether it was compiled for {package} is not known": "不知道它是否针对 {package} 编译",
    "what {names} asks for is known as far as the matrices say it: pip may add more": (
        "{names} 自身的依赖只知道兼容矩阵写明的部分：pip 可能还会装别的"
    ),
    "{package} is one of the builds that fit what is beside it now": (
        "{package} 是与现有环境相配的构建之一"
    ),
    # locks
    "Locked by envdoctor {version}, matrices of {date}": "由 envdoctor {version} 锁定，矩阵日期 {date}",
    "Asked for: {what}": "请求：{what}",
    "For: {machine}": "适用于：{machine}",
    "Not installed here, and needed: {names}": "不由本文件安装，但需要：{names}",
    "image {name}": "镜像 {name}",
    "what {names} needs": "{names} 的依赖",
    "Not as asked: {pin}, but {version}": "与要求不同：要求 {pin}，实际为 {version}",
    "Holds if: {what}": "前提：{what}",
    "Part {number} of {size}: install the parts in their order": "第 {number} 部分，共 {size} 部分：请按顺序安装",
    "In the folder of the training code:": "在训练代码的目录里执行：",
    "Install: {command}": "安装：{command}",
    "Each job of the compiler takes {size} MiB of memory: MAX_JOBS limits them": "每个编译任务占用 {size} MiB 内存：用 MAX_JOBS 限制任务数",
    "nvcc of CUDA {version} compiles": "用 CUDA {version} 的 nvcc 编译",
    "Apply these patches to the sources first: {names}": "先给源码打上这些补丁：{names}",
    "Nothing but these packages is to come from that index": "除了这些包，其他包都不应来自这个索引",
    "The hashes are of the files for this machine and this Python": "这些哈希只属于适用于这台机器和这个 Python 的文件",
    "No hashes: pip takes all or none, and none is known of {names}": "没有哈希：pip 要求全部有或全部没有，而 {names} 的哈希未知",
    "Versions of the stack alone are locked: what else it needs, the installer chooses": "只锁定了这套版本组合本身：其余依赖由安装工具选择",
    "pip may refuse it, since the authors contradict each other: {sides}": "pip 可能会拒绝，因为作者的要求互相矛盾：{sides}",
    "What no requirements file of this stack may change": "安装这套版本组合的各个文件时都不得改变的版本",
    "sh FILE [FOLDER] makes the environment in FOLDER, .venv if not said": "sh FILE [FOLDER] 在 FOLDER 中创建环境，默认为 .venv",
    "sh FILE [PYTHON] installs into the environment of PYTHON, python3 if not said": "sh FILE [PYTHON] 安装到 PYTHON 所在的环境，默认为 python3",
    "CODE: the folder of the training code, the current one if not said": "CODE：训练代码的目录，默认为当前目录",
    "PATCHES: the folder with the patches of envdoctor, NAME.patch": "PATCHES：存放 envdoctor 补丁（NAME.patch）的目录",
    "What lies there would be taken for a part of the environment.": "那里的包会被误认为属于这个环境。",
    "code for GPUs is compiled next, and needs the nvcc of": "接下来要编译 GPU 代码，需要这个版本的 nvcc：",
    "this patch is not in the folder that PATCHES names:": "PATCHES 指定的目录里没有这个补丁：",
    "this is there already, and would not be what is locked:": "它已经存在，里面的内容会与锁定的不同：",
    "neither uv nor {python} is on PATH": "PATH 中既没有 uv，也没有 {python}",
    "Its sources need the patches {names} first.": "它的源码要先打上补丁 {names}。",
    "envdoctor is not on PATH; to check what was installed:": "PATH 中没有 envdoctor；检查安装结果请运行：",
    # repairing
    "What that mends": "能修好的问题",
    "What comes with it": "随之出现的问题",
    "--apply puts all back because of that, unless --keep-going is given": (
        "因此 --apply 会全部撤回，除非加上 --keep-going"
    ),
    "Left to you": "需要您处理的问题",
    "In another environment": "另建环境",
    "{findings}: {way}": "{findings}：{way}",
    "for {reason}": "原因：{reason}",
    "{package} is new": "新装 {package}",
    "{package} goes": "卸载 {package}",
    "nothing to repair": "没有需要修复的问题",
    "{findings} can be mended": "{findings}可以修好",
    "{findings} left to you": "{findings}需要您处理",
    "{number} distribution changes": "改动 {number} 个包",
    "{number} distributions change": "改动 {number} 个包",
    "{number} is compiled": "编译 {number} 个",
    "{number} are compiled": "编译 {number} 个",
    "nothing is compiled": "无需编译",
    "no smaller change would do": "没有更小的改法",
    "Costs: {costs}.": "代价：{costs}。",
    "To carry it out, with a way back:": "执行修复（可以撤销）：",
    "Make sure:": "确认结果：",
    "Undo what was carried out:": "撤销已执行的修复：",
    "Undo:": "撤销：",
    "{package} is {build}, and stays": "{package} 是 {build}，予以保留",
    "no command is known that mends it": "没有已知的命令能修好它",
    "the plan has another version of what would mend it: look again afterwards": (
        "修复它需要的版本与方案中的不同：执行之后再检查一次"
    ),
    "leave this environment as it is, and make one of its own with {packages}": (
        "这个环境保持原样，另建一个环境，装上 {packages}"
    ),
    "Applied: all that was wrong is mended, and nothing else broke": "已执行：问题都修好了，没有引起别的问题",
    "Applied: all that commands can mend is mended": "已执行：命令能修好的都修好了",
    "Rolled back: {reason}": "已撤回：{reason}",
    "Changed: {changes}": "改动：{changes}",
    "The environment is as it was: {number} file compared by content, mode and time.": (
        "环境已恢复原样：按内容、权限和时间比对了 {number} 个文件。"
    ),
    "The environment is as it was: {number} files compared by content, mode and time.": (
        "环境已恢复原样：按内容、权限和时间比对了 {number} 个文件。"
    ),
    "Something else changed files of the environment meanwhile: {files}": (
        "期间有别的程序改动了环境里的文件：{files}"
    ),
    "Files that something else changed meanwhile are as they were, too: {files}": (
        "期间被别的程序改动的文件也恢复了原样：{files}"
    ),
    "Carry this out?": "执行这个方案吗？",
    "envdoctor: snapshot: {done} of {number} files": "envdoctor：快照：{done}/{number} 个文件",
    "envdoctor: step {done} of {number}: {command}": "envdoctor：第 {done} 步，共 {number} 步：{command}",
    "envdoctor: checking what came of it": "envdoctor：检查结果",
    "envdoctor: putting back what was there; this is not to be stopped": (
        "envdoctor：正在恢复原样，请不要中断"
    ),
    "envdoctor: a change of this environment was broken off; take it back: {command}": (
        "envdoctor：对这个环境的一次修复中断了；请撤销：{command}"
    ),
    "envdoctor: nothing had been changed yet": "envdoctor：当时还没有改动任何东西",
    "envdoctor: taken back: {number} files are what they were, compared by content": (
        "envdoctor：已撤销：{number} 个文件恢复了原样，按内容比对过"
    ),
    # what was skipped
    "{builds}: {reason}": "{builds}：{reason}",
    "{build} is newer than the matrices know ({newest}): untested": (
        "{build} 比兼容矩阵已知的版本（{newest}）更新：未经测试"
    ),
    "the rule itself failed: {error}": "规则自身出错：{error}",
    "{package}: judging it failed: {error}": "{package}：判断时自身出错：{error}",
    "looking for changes failed: {error}": "查找改动时自身出错：{error}",
    "looking for the cause failed: {error}": "查找起因时自身出错：{error}",
    "{part}: {reason}": "{part}：{reason}",
    "{fact} is unknown": "{fact} 未知",
    "{fact}: none was found": "{fact}：没有找到",
    "there is no {thing} here": "这里没有 {thing}",
    # what click prints of itself
    "Usage: {command}": "用法：{command}",
    "Options:": "选项：",
    "Commands:": "命令：",
    "Error: {message}": "错误：{message}",
    # what logs say
    "Root cause": "根本原因",
    "Also": "同时",
    "Perhaps": "可能",
    "Fix": "解决办法",
    "Or": "或者",
    "Make sure": "如何确认",
    "More": "详细说明",
    "Seen, too": "还看到",
    "Read": "读取了",
    "Stated": "日志写明",
    "Meaning": "含义",
    "Ways out": "解决办法",
    "Signs in logs, and how sure each is": "日志中的迹象，及其可信程度",
    "{sign}, in {kinds}: {confidence}": "{sign}，见于 {kinds}：{confidence}",
    "line {line}": "第 {line} 行",
    "line {lines} is a consequence": "第 {lines} 行是它的后果",
    "lines {lines} are consequences": "第 {lines} 行都是它的后果",
    "and {number} more line (-v)": "还有 {number} 行（-v）",
    "and {number} more lines (-v)": "还有 {number} 行（-v）",
    "and {number} more; all of it: --all": "还有 {number} 个；用 --all 查看全部",
    "all of it: --all": "用 --all 查看全部",
    "No cause in the environment is seen.": "没有看到环境方面的原因。",
    "{ended}; no cause in the environment is seen": "{ended}；没有看到环境方面的原因",
    "{number} line was read.": "读取了 {number} 行。",
    "{number} lines were read.": "读取了 {number} 行。",
    "{number} line tells of a failure, of which no cause in the environment is known:": (
        "其中 {number} 行表明出错，但没有已知的环境原因能解释："
    ),
    "{number} lines tell of failures, of which no cause in the environment is known:": (
        "其中 {number} 行表明出错，但没有已知的环境原因能解释："
    ),
    "There is nothing to read.": "没有可读的内容。",
    "whether the kernel ended it for want of memory": "查看是否因内存不足被内核终止",
    "what is wrong with this environment": "检查当前环境有什么问题",
    "{log}: {number} lines were left out or shortened": "{log}：略去或截短了 {number} 行",
    "what it printed": "命令的输出",
    "stdin": "标准输入",
    "Ways out are for {facts}.": "解决办法针对 {facts}。",
    "this machine": "本机",
    "envdoctor: {signal} ended the command ({number})": "envdoctor：命令被信号 {signal} 终止（{number}）",
    "envdoctor: the command failed with {number}": "envdoctor：命令失败，退出码 {number}",
    # one binary
    "library": "共享库",
    "program": "程序",
    "static program": "静态程序",
    "object file": "目标文件",
    "core dump": "核心转储",
    "no binary": "不是二进制文件",
    "GPU code": "GPU 代码",
    "{machine}, {bits} bits": "{machine}，{bits} 位",
    "loader": "加载器",
    "flags": "标志",
    "needs": "需要",
    "versions": "符号版本",
    "symbols": "符号",
    "defines": "定义",
    "imported as": "导入名",
    "{number} undefined": "{number} 个未定义",
    ", {weak} weak": "，{weak} 个弱符号",
    "SASS for {targets}": "SASS：{targets}",
    "PTX for {targets}": "PTX：{targets}",
    "PTX to be linked for {targets}": "需先链接的 PTX：{targets}",
    "{number} image": "{number} 个映像",
    "{number} images": "{number} 个映像",
    "Whether it loads is not known: {reason}": "无法得知能否加载：{reason}",
    "In {python}:": "在 {python} 中：",
    "In {python}, after import torch:": "在 {python} 中，import torch 之后：",
    "it loads": "可以加载",
    "it does not load: {library} is not found, which {by} needs": "不能加载：找不到 {by} 需要的 {library}",
    "it does not load: {file} ({origin}) does not define {version}": "不能加载：{file}（{origin}）没有定义 {version}",
    "it does not load: nothing defines {number} symbol": "不能加载：有 {number} 个符号没有任何库定义",
    "it does not load: nothing defines {number} symbols": "不能加载：有 {number} 个符号没有任何库定义",
    "it does not load: {reason}": "不能加载：{reason}",
    "there is {file} ({origin})": "现有的是 {file}（{origin}）",
}

WRITTEN: Dict[str, str] = {
    # what a stack is to satisfy
    "{package} (any build)": "{package}（任何构建）",
    "NVIDIA driver {version}": "NVIDIA 驱动 {version}",
    "processor architecture {name}": "处理器架构 {name}",
    "operating system {name}": "操作系统 {name}",
    # what GPU code runs where
    "GPU code of {package}": "{package} 的 GPU 代码",
    "whether code for {code} runs on {gpu} is not known": "不知道 {code} 的代码能否在 {gpu} 上运行",
    "whether {gpu} is of the family of {code} is not known": "不知道 {gpu} 是否属于 {code} 的同族架构",
    "only a part of its kernels has code for this GPU": "它只有一部分 kernel 带这块显卡的代码",
    # why the GPU code of a file was not read to its end
    "the file states {number} sections, which is too many": "文件声称有 {number} 个节（section），太多了",
    "the file ends before its GPU code does": "文件还没到 GPU 代码的末尾就断了",
    "its GPU code has no fat binary at {place}": "它的 GPU 代码在 {place} 处没有 fat binary",
    "the file ends inside a fat binary, at {place}": "文件在一个 fat binary 中间断了，位置 {place}",
    "a fat binary goes on beyond its section, at {place}": "有一个 fat binary 超出了所在的节，位置 {place}",
    "an image goes on beyond its fat binary, at {place}": "有一份代码超出了所在的 fat binary，位置 {place}",
    "its GPU code has more than {number} images": "它的 GPU 代码超过 {number} 份",
    "its fat binaries are for too many sets of targets": "它的 fat binary 面向的架构组合太多",
    "an image of GPU code is for architecture {number}": "有一份 GPU 代码的架构号是 {number}",
    # source trees of projects
    "the tree is too large: the rest was not read": "目录树太大，其余部分没有读取",
    "folders are nested too deeply: the innermost were not read": "目录嵌套太深，最里面的没有读取",
    "some folders cannot be listed": "有些目录无法列出",
    "some files cannot be read": "有些文件无法读取",
    "some files are too large for sources: they were not read": "有些文件大得不像源码，没有读取",
    "of more names than are kept, those that are used most were kept": "用到的名字太多，只保留了用得最多的",
    "some Python files have a syntax that is not understood here": "有些 Python 文件的语法在这里无法解析",
    "whether {package} is here is not known": "不知道这里有没有 {package}",
    "{package} of the tree": "源码树里的 {package}",
    "Read this source tree, too: what of it cannot run here, or be compiled. Nothing of it is "
    "executed. Repeatable.": "同时读取这个源码目录：其中哪些代码在这里运行不了或编译不过。不执行其中任何代码。可重复。",
    # binaries
    "Read the binaries, too: what the dynamic loader would refuse. Default: --deep.": "同时读取二进制文件：动态链接器会拒绝加载哪些。默认：--deep。",
    "Examine these binaries, too, as if they were imported: a folder, a file, or a wheel before it is installed. Repeatable.": "同时检查这些二进制文件，就像要导入它们一样：目录、文件，或者还没安装的 wheel 包。可重复。",
    "{path}: is no wheel that can be read: {reason}": "{path}：不是可以读取的 wheel 包：{reason}",
    "{path}: is larger than any wheel": "{path}：比任何 wheel 包都大",
    "binaries were not read (--no-deep)": "没有读取二进制文件（--no-deep）",
    "binaries were not read yet: envdoctor check does": "还没有读取二进制文件：envdoctor check 会读取",
    "its ELF header is cut off or invalid": "它的 ELF 头不完整或无效",
    "its program headers are invalid": "它的程序头无效",
    "its program headers are cut off": "它的程序头不完整",
    "it is empty": "它是空文件",
    "it is no ELF file": "它不是 ELF 文件",
    "it is a linker script, not a library": "它是链接脚本，不是库",
    "it is a pointer of Git LFS: the file itself was not fetched": "它只是 Git LFS 的指针：文件本身没有下载",
    "it is text, not an ELF file": "它是文本，不是 ELF 文件",
    "it is not a regular file": "它不是普通文件",
    "it is closed": "它已经关闭",
    "its end is missing": "它的结尾缺失",
    "it is linked to torch, which is not installed": "它链接了 torch，而 torch 没有安装",
    "it cannot be read: {reason}": "无法读取它：{reason}",
    "it is no shared library: it has no dynamic section": "它不是共享库：没有动态段",
    "it is for {machine} with {bits} bits": "它是 {machine} 的 {bits} 位文件",
    "machine {number}": "机器编号 {number}",
    "no loader: it is linked statically": "没有链接器：它是静态链接的",
    "{python} is started by {loader}, whose search is not known": "启动 {python} 的是 {loader}，它如何查找库尚不清楚",
    "{python}: what it needs itself was not found": "{python}：没有找到它自身需要的库",
    "{library} comes with the driver": "{library} 由驱动提供",
    "{library} is in the environment, and code may load it before": "环境里有 {library}，代码可能会先加载它",
    "glibc {version} is assumed, and binaries were linked with another": "假设 glibc 为 {version}，而二进制文件是按另一个 glibc 查看的",
    "Python {version} is assumed, and binaries were linked with another": "假设 Python 为 {version}，而二进制文件是按另一个 Python 查看的",
    "{system} is assumed, and binaries were linked with another glibc": "假设系统为 {system}，而二进制文件是按另一个 glibc 查看的",
    "undefined symbols": "没有定义的符号",
    "symbol version": "符号版本",
    "needed library": "需要的库",
    "there is": "现有",
    "loaded": "加载的是",
    "looked for in": "查找过",
    "file of another Python": "另一个 Python 的文件",
    "likewise": "同样",
    "the program": "程序本身",
    "its path": "它的路径",
    "the path in it": "文件里写的路径",
    "passed over": "跳过的",
    "the default folders": "默认目录",
    # where facts were read
    "assumed": "假设",
    "as reported": "来自报告",
    "environment": "环境变量",
    "environment {prefix}": "环境 {prefix}",
    "the search path": "搜索路径",
    "the loader's default folders": "动态链接器的默认目录",
    "the environment's lib folder": "环境的 lib 目录",
    "where the loader looks": "动态链接器查找的位置",
    "where Paddle looks for cuDNN": "Paddle 自行查找 cuDNN 的位置",
    "Paddle's own folder": "Paddle 自带的文件夹",
    "LD_LIBRARY_PATH and LD_PRELOAD": "LD_LIBRARY_PATH 和 LD_PRELOAD",
    "the driver's branch": "由驱动分支推断",
    "the variable {name}": "环境变量 {name}",
    "{origin}, without a device": "{origin}，但没有设备",
    "device node {path}": "设备节点 {path}",
    "folder {path}": "目录 {path}",
    "{name} of the control group": "控制组的 {name}",
    "MemTotal in /proc/meminfo": "/proc/meminfo 中的 MemTotal",
    "Cpus_allowed_list in {path}": "{path} 中的 Cpus_allowed_list",
    "package nvidia-l4t-core in {packages}": "{packages} 中的 nvidia-l4t-core 包",
    "name of {path}": "{path} 的文件名",
    "{origin}, CUDA_VISIBLE_DEVICES taken in the order of the PCI bus": (
        "{origin}，CUDA_VISIBLE_DEVICES 按 PCI 总线顺序解释"
    ),
    "{command} on PATH": "PATH 中的 {command}",
    "{folder}, which is not on PATH": "{folder}（不在 PATH 中）",
    "{section}, line {number}": "{section} 第 {number} 行",
    "{origin}: it is available to a build for {number}": "{origin}：为 {number} 构建的 torch 可以使用它",
    "Python's prompt": "Python 交互提示符",
    "torch's build": "torch 的构建信息",
    "torch's warning": "torch 的警告",
    "detectron2's collect_env": "detectron2 的 collect_env",
    "conda's specs": "conda 的 specs",
    "conda's plan": "conda 的安装计划",
    "pip's log": "pip 的日志",
    # what is evidence
    "none": "无",
    "answers": "应答",
    "vendor": "厂商",
    "libraries": "库",
    "GPUs": "显卡",
    "GPU": "显卡",
    "container": "容器",
    "interfaces": "网络接口",
    "Max open files": "可同时打开的文件数",
    "machine": "本机",
    "driver {version}": "驱动 {version}",
    "NVIDIA driver": "NVIDIA 驱动",
    "NVIDIA libraries": "NVIDIA 库",
    "NVIDIA kernel module": "NVIDIA 内核模块",
    "CUDA toolkit": "CUDA 工具包",
    "what is plugged into the PCI bus": "PCI 总线上的设备",
    "what stands before torch's own libraries on the loader path": "加载路径上排在 torch 自带库之前的内容",
    "whether this is a container": "是否在容器内",
    "the number of processors": "处理器数量",
    "what network interfaces there are": "有哪些网络接口",
    "what libraries the system has": "系统里有哪些库",
    "the limit of open files": "打开文件数上限",
    "the environment's libstdc++": "环境自带的 libstdc++",
    "the size of /dev/shm": "共享内存（/dev/shm）的大小",
    "Python environment": "Python 环境",
    "the search path of Python": "Python 的搜索路径",
    "CUDA toolkit {version}": "CUDA 工具包 {version}",
    "CUDA of {package}": "{package} 的 CUDA",
    "cuDNN of {package}": "{package} 的 cuDNN",
    "NCCL of {package}": "{package} 的 NCCL",
    "vendor of the accelerator": "加速卡厂商",
    "NVIDIA driver assumed for these GPUs": "为这些显卡假设的 NVIDIA 驱动",
    "CUDA version that the driver serves": "驱动支持的 CUDA 版本",
    "operating system": "操作系统",
    "processor architecture": "处理器架构",
    "Windows Subsystem for Linux": "适用于 Linux 的 Windows 子系统（WSL）",
    "environment variables that are switched on": "已开启的环境变量",
    "modules that were mended by hand": "手工修补过的模块",
    "setuptools of the build": "编译所用的 setuptools",
    "pip of the build": "编译所用的 pip",
    "Cython of the build": "编译所用的 Cython",
    "environment of the build's own": "编译专用的环境",
    "the newest for this Python, which pip takes for a build": "适用于当前 Python 的最新版本，pip 编译时用它",
    "C++ compiler": "C++ 编译器",
    "not found": "未找到",
    "the size of memory": "内存大小",
    "processors": "处理器",
    "environment variable": "环境变量",
    "numpy of the build": "编译所用的 numpy",
    "requires {requirement}": "要求 {requirement}",
    "without {files}": "缺少 {files}",
    "shorter than listed: {files}": "比清单上写的短：{files}",
    "no metadata": "没有元数据",
    "looks for {requirement}": "查找 {requirement}",
    "a folder": "目录",
    "PYTHONPATH entry {entry}": "PYTHONPATH 里的 {entry}",
    "user site {entry}": "用户 site 目录 {entry}",
    "served from {place}": "来自 {place}",
    "nothing serves {modules}": "没有文件提供 {modules}",
    "{number} of its {files} files were looked for": "抽查了其 {files} 个文件中的 {number} 个",
    "{files} (+{number} or more)": "{files}（至少还有 {number} 个）",
    # GPUs and drivers
    "there is no driver of an accelerator": "没有任何加速卡驱动",
    "there is no NVIDIA driver": "没有 NVIDIA 驱动",
    "not read for {vendor}": "{vendor} 的这一项不读取",
    "the accelerator is of {vendor}, not of NVIDIA": "加速卡是 {vendor} 的，不是 NVIDIA 的",
    "no device node, driver or SDK of a known accelerator": "没有已知加速卡的设备节点、驱动或 SDK",
    "{files} does not state it": "{files} 中没有说明",
    "no device node of {vendor} in /dev": "/dev 中没有 {vendor} 的设备节点",
    "which models they are is not read for {vendor} ({number} device nodes such as {node})": (
        "{vendor} 设备的型号不读取（有 {number} 个设备节点，例如 {node}）"
    ),
    "no source tells it": "没有任何来源说明",
    "not on the loader's path": "不在动态链接器的搜索路径上",
    "the loader takes {path}, which is not of cuda-compat": "动态链接器会加载 {path}，它不属于 cuda-compat",
    "the loader finds no libcuda.so.1": "动态链接器找不到 libcuda.so.1",
    "no NVIDIA kernel module is loaded here": "未加载 NVIDIA 内核模块",
    "no NVIDIA device node in /dev": "/dev 中没有 NVIDIA 设备节点",
    "no libnvidia-ml.so.1": "没有 libnvidia-ml.so.1",
    "no libcuda.so.1": "没有 libcuda.so.1",
    "no such command": "没有这个命令",
    "no answer": "没有应答",
    "no library found": "找不到库",
    "No devices were found": "未找到设备",
    "{path} has no {function}": "{path} 中没有 {function}",
    # the system
    "there is no /etc/os-release that names a system": "没有能说明系统的 /etc/os-release",
    "{path} cannot be read": "无法读取 {path}",
    "the C library is musl ({path}), not glibc": "C 库是 musl（{path}），不是 glibc",
    "the C library of this system is not glibc": "本系统的 C 库不是 glibc",
    "{path} names no GLIBCXX version": "{path} 中没有 GLIBCXX 版本",
    "the loader finds no libstdc++.so.6": "动态链接器找不到 libstdc++.so.6",
    "programs of the environment load the system's libstdc++": "该环境的程序加载系统的 libstdc++",
    "where the loader looks on {architecture} is not known": "不清楚 {architecture} 上动态链接器查找哪些位置",
    "which libstdc++ comes before that of {system} is not known": "不清楚 {system} 上有哪个 libstdc++ 排在系统的前面",
    "which libraries {system} has is not known": "不清楚 {system} 有哪些库",
    "{path} has no tmpfs at /dev/shm": "{path} 中没有挂载在 /dev/shm 的 tmpfs",
    "{path}: half of the memory, as no size is given": "{path}：没有写大小，按内存的一半计算",
    "{path} does not tell the size of /dev/shm": "{path} 没有说明 /dev/shm 的大小",
    "{path} lists {number} interfaces": "{path} 列出了 {number} 个网络接口",
    "no sign of a container in /, /run, /proc/1/cgroup and the environment": (
        "/、/run、/proc/1/cgroup 和环境变量中没有容器的迹象"
    ),
    "not a Jetson: those are aarch64": "不是 Jetson：Jetson 是 aarch64 架构",
    "a Tegra by its device tree, but neither {path} nor nvidia-l4t-core is here": (
        "设备树表明是 Tegra，但既没有 {path} 也没有 nvidia-l4t-core"
    ),
    "no {path}, no package nvidia-l4t-core": "没有 {path}，也没有 nvidia-l4t-core 包",
    # commands that were started
    "{failure} and cannot be killed": "{failure}，且无法终止",
    "took longer than {seconds} s": "超过 {seconds} 秒未完成",
    "printed more than {number} bytes": "输出超过 {number} 字节",
    "crashed with signal {number}": "因信号 {number} 崩溃",
    "exit status {number}": "退出码 {number}",
    "not a command: {error}": "不是命令：{error}",
    "the interpreter that its first line or its header names does not exist": (
        "其首行或文件头指定的解释器不存在"
    ),
    "not a program that this machine can execute (exec format error)": (
        "本机无法执行该程序（exec format error）"
    ),
    "not executable (permission denied)": "没有执行权限（permission denied）",
    "{path} is no folder": "{path} 不是目录",
    # installers, and what indexes say
    "there is no uv, and no pip of 22.2 or newer: install uv": "没有 uv，也没有 22.2 或更新的 pip：请安装 uv",
    "pip answers for the Python that runs it only, which is not {version}: install uv": (
        "pip 只能按运行它的 Python 给出结果，而它不是 {version}：请安装 uv"
    ),
    "pip cannot override what authors state against each other: install uv": (
        "pip 无法覆盖各包作者相互矛盾的声明：请安装 uv"
    ),
    "pip does not tell what it is configured with: {failure}": "pip 没有给出它的配置：{failure}",
    "{installer} cannot reach the index: {reason}": "{installer} 无法连接包索引：{reason}",
    "{installer} gives no answer: {reason}": "{installer} 没有给出结果：{reason}",
    "no version satisfies {requirement}": "没有版本满足 {requirement}",
    "with {versions} the rest cannot be installed: {reason}": "用 {versions} 时，其余的要求无法安装：{reason}",
    "with {versions} the rest cannot be installed either": "用 {versions} 时，其余的要求同样无法安装",
    "what {installer} chose of {packages} breaks {relation}": (
        "{installer} 为 {packages} 选的版本违反 {relation}"
    ),
    "chosen by {installer}": "由 {installer} 选定",
    "no tree was found that goes with a stack: {reason}": "没有找到能与组合一起安装的依赖：{reason}",
    "it is no requirement by name": "它不是按名称写的依赖",
    "it comes from an address of its own": "它来自单独的地址",
    "what it requires could not be read: {reason}": "无法读取它的依赖：{reason}",
    "what it requires only a build tells": "只有编译它才能得知其依赖",
    "only a build would tell": "只有编译才能得知",
    "no release {version} of it": "没有 {version} 这一版本",
    "{version} is no version by PEP 440": "{version} 不是 PEP 440 版本",
    "{package} {version} brings its own": "{package} {version} 自带对应的版本",
    "the matrices do not know Python {version}": "兼容矩阵中没有 Python {version}",
    "the index": "包索引",
    "there is no {package} on {place}": "{place} 上没有 {package}",
    "there is no {package} {version} on {place}": "{place} 上没有 {package} {version}",
    "{place} lists {file}, and the file is not there": "{place} 列出了 {file}，但文件不在那里",
    "its project has withdrawn it": "它的项目已撤回该版本",
    "of {package} {version} there are no sources": "{package} {version} 没有源码包",
    "of {package} {version} there are sources only": "{package} {version} 只有源码包",
    "no wheel of {package} fits {system}: they are for {tags}": (
        "{package} 没有适合 {system} 的 wheel 包：现有的适用于 {tags}"
    ),
    "only http and https are asked": "只访问 http 和 https 地址",
    "takes more than {seconds} seconds": "耗时超过 {seconds} 秒",
    "more than {number} bytes": "超过 {number} 字节",
    "asks for a login (status {number})": "需要登录（状态码 {number}）",
    "status {number}": "状态码 {number}",
    "leads to an address that is none of http or https": "跳转到既不是 http 也不是 https 的地址",
    "leads to an address without encryption": "跳转到未加密的地址",
    "gave no readable answer": "返回的内容无法解析",
    "is not there": "不在那里",
    "an address": "某个地址",
    "its name is not known: is there a network?": "无法解析其域名：是否有网络？",
    "its certificate is not trusted: {reason}": "其证书不受信任：{reason}",
    "does not answer": "没有响应",
    "refuses connections": "拒绝连接",
    # compilers and tools
    "{file} (by {origin}) is not the system's, so it is not started, and no file tells its version": (
        "{file}（来自 {origin}）不是系统自带的，因此没有运行它，也没有文件说明其版本"
    ),
    "{file} ({origin}) is not the system's, so it is not started, and no file tells its version": (
        "{file}（{origin}）不是系统自带的，因此没有运行它，也没有文件说明其版本"
    ),
    "is not the system's, so it is not started, and no file tells its version": (
        "不是系统自带的，因此没有运行它，也没有文件说明其版本"
    ),
    "{file} (by {origin}) does not tell its version": "{file}（来自 {origin}）没有给出版本",
    "{file} ({origin}) tells no version of gcc or clang": "{file}（{origin}）没有给出 gcc 或 clang 的版本",
    "tells no version of gcc or clang": "没有给出 gcc 或 clang 的版本",
    "CUDA_PATH is empty, which makes torch look no further": "CUDA_PATH 为空，torch 因此不再查找",
    "neither CUDA_HOME nor CUDA_PATH is set, nvcc is not on PATH, and there is no /usr/local/cuda": (
        "CUDA_HOME 和 CUDA_PATH 都未设置，PATH 中没有 nvcc，也没有 /usr/local/cuda"
    ),
    "{folder} (by {origin}) has no bin/nvcc": "{folder}（来自 {origin}）中没有 bin/nvcc",
    "CXX is not set, and there is no c++ on PATH": "未设置 CXX，PATH 中也没有 c++",
    "there is no gcc on PATH": "PATH 中没有 gcc",
    "there is no command ninja on PATH": "PATH 中没有 ninja 命令",
    "{origin} names no command that can be started": "{origin} 指定的命令无法运行",
    "there is no target interpreter": "没有要检查的解释器",
    "there is no Python.h in {folder}": "{folder} 中没有 Python.h",
    "there is no Python.h in {folder} or {other}": "{folder} 和 {other} 中都没有 Python.h",
    "no cudnn_version.h in the toolkit or in /usr/include": (
        "CUDA 工具包和 /usr/include 中都没有 cudnn_version.h"
    ),
    # the choice of the interpreter
    "{variable} is {prefix}, which holds no bin/python that can be run": (
        "{variable} 是 {prefix}，其中没有可运行的 bin/python"
    ),
    "{variable} is {prefix}, whose bin/python is a link to {python}, which does not exist": (
        "{variable} 是 {prefix}，其 bin/python 链接到不存在的 {python}"
    ),
    "{variable} is envdoctor's own environment": "{variable} 是 envdoctor 自身的环境",
    "on PATH comes another, {python}": "PATH 中排在前面的是另一个：{python}",
    "{python} is envdoctor's own": "{python} 属于 envdoctor 自身",
    "no Python to examine was found": "找不到要检查的 Python",
    "name one with --python PATH or --env NAME": "请用 --python PATH 或 --env NAME 指定",
    "envdoctor itself runs in this environment": "envdoctor 自身就运行在该环境中",
    "{python} ({origin}): {failure}": "{python}（{origin}）：{failure}",
    "is no Python, or none that can be started": "不是 Python，或无法启动",
    "is no Python": "不是 Python",
    "gave no readable answer: {error}": "输出无法解析：{error}",
    "it gave no readable answer: {error}": "其输出无法解析：{error}",
    "it is Python 2; the probe needs Python 3.6 or newer": "它是 Python 2；探测脚本需要 Python 3.6 或更高版本",
    "it is older than Python 3.6, which the probe needs": "它早于探测脚本所需的 Python 3.6",
    "--python takes an interpreter, but {path} is a folder; try --env": (
        "--python 需要解释器路径，而 {path} 是目录；请改用 --env"
    ),
    "--python takes a path, but {path} does not exist": "--python 需要路径，而 {path} 不存在",
    "PATH has {python}": "PATH 中有 {python}",
    "--python names {path}, which is not executable": "--python 指定的 {path} 没有执行权限",
    "--env names {folder}, which is no folder": "--env 指定的 {folder} 不是目录",
    "--env names {folder}, which holds no bin/python that can be run": (
        "--env 指定的 {folder} 中没有可运行的 bin/python"
    ),
    "--env names {folder}, whose bin/python is a link to {python}, which does not exist": (
        "--env 指定的 {folder} 中，bin/python 链接到不存在的 {python}"
    ),
    "no conda or virtual environment is named {name}": "没有名为 {name} 的 conda 环境或虚拟环境",
    "did you mean {name}?": "是否想用 {name}？",
    "did you mean {name} or {other}?": "是否想用 {name} 或 {other}？",
    "did you mean {name} or {other} or {third}?": "是否想用 {name}、{other} 或 {third}？",
    "{number} environments are named {name}: {folders}": "有 {number} 个环境名为 {name}：{folders}",
    "give the folder instead": "请改为指定目录",
    # snapshots and reports
    "no such file or directory": "没有那个文件或目录",
    "No such file or directory": "没有那个文件或目录",
    "permission denied": "没有权限",
    "Permission denied": "没有权限",
    "is a directory": "它是一个目录",
    "Is a directory": "它是一个目录",
    "not a directory": "它不是目录",
    "Not a directory": "它不是目录",
    "No space left on device": "磁盘空间不足",
    "Read-only file system": "文件系统只读",
    "{file}: cannot be read: {reason}": "{file}：无法读取：{reason}",
    "cannot be read": "无法读取",
    "is larger than 5 MB, which no snapshot is": "大于 5 MB，不可能是快照",
    "is larger than 2 MB, which no report is": "大于 2 MB，不可能是报告",
    "is no snapshot of `envdoctor facts`, nor a report": "既不是 `envdoctor facts` 的快照，也不是报告",
    "is no snapshot of `envdoctor facts`": "不是 `envdoctor facts` 的快照",
    "has schema version {version}": "其 schema 版本是 {version}",
    "this envdoctor reads {version}": "当前 envdoctor 读取的是版本 {version}",
    "{version} is no version of Python 3 - at `$.target.value.version`": (
        "{version} 不是 Python 3 的版本 - 位于 `$.target.value.version`"
    ),
    "it is neither a file nor a pipe": "它既不是文件也不是管道",
    "nothing was written to it for {seconds} s": "{seconds} 秒内没有写入任何内容",
    "no line is of a known report (collect_env, transformers env, pip or conda list, nvidia-smi, nvcc)": (
        "没有一行属于已知的报告（collect_env、transformers env、pip 或 conda list、nvidia-smi、nvcc）"
    ),
    "the report does not say": "报告中没有说明",
    "the report does not say whether this is all of the environment": "报告没有说明这是否是环境的全部",
    "the report is of {system}": "报告来自 {system}",
    "{system} of unknown release": "{system}（版本未知）",
    "torch is a build for ROCm": "torch 是 ROCm 构建",
    "torch is a build for Intel's GPUs": "torch 是面向 Intel 显卡的构建",
    "{section} is of another environment: its torch is {version}, not {torch}": (
        "{section} 属于另一个环境：那里的 torch 是 {version}，不是 {torch}"
    ),
    "the report says {one} (line {number}) and {other} (line {line})": (
        "报告中既有 {one}（第 {number} 行），又有 {other}（第 {line} 行）"
    ),
    # requirement files
    "left out: not known whether {marker}": "已略去：不知道是否满足 {marker}",
    "it cannot be parsed": "无法解析",
    "is no YAML": "不是 YAML",
    "is no TOML": "不是 TOML",
    "is no TOML that is read: a key has more than 100 parts": "不读取这样的 TOML：有的键超过 100 段",
    "is no JSON": "不是 JSON",
    "it is nested too deeply": "嵌套过深",
    "is no environment file of conda": "不是 conda 的环境文件",
    "it has no list of dependencies": "其中没有 dependencies 列表",
    "not understood: {text}": "无法理解：{text}",
    "not understood: a list in the list of dependencies": "无法理解：dependencies 列表中嵌套了列表",
    "not understood: a section that is not pip's": "无法理解：pip 以外的小节",
    "not understood: the marker of {name}": "无法理解：{name} 的环境标记",
    "a requirement of {number} characters": "一条依赖长达 {number} 个字符",
    "not read: {text}": "未读取：{text}",
    "not read: {path} lies outside of {folder}": "未读取：{path} 在 {folder} 之外",
    "not read: offline ({location})": "未读取：不联网（{location}）",
    "not read: {text} (a variable)": "未读取：{text}（含变量）",
    "not read again: {path} includes itself": "不再重复读取：{path} 包含了自身",
    "includes too many files: {path}": "包含的文件过多：{path}",
    "more than {number} requirements": "依赖超过 {number} 条",
    "{name} is asked for more than {number} times": "{name} 被要求超过 {number} 次",
    "{text} is no requirement": "{text} 不是合法的依赖",
    "not a regular file": "不是普通文件",
    "{path} is not a regular file": "{path} 不是普通文件",
    "is larger than {number} MB, which no file of its kind is": "大于 {number} MB，这类文件不会这么大",
    "is no text in {encoding}": "不是 {encoding} 编码的文本",
    "is no text: it holds a null character": "不是文本：含有空字符",
    "TOML needs Python 3.11 or the package tomli": "读取 TOML 需要 Python 3.11 或 tomli 包",
    "{name} is locked at several versions": "{name} 被锁定为多个版本",
    'is no Pipfile.lock: it has no section "default"': '不是 Pipfile.lock：没有 "default" 小节',
    "is no lock file: it has no [[package]]": "不是锁文件：没有 [[package]]",
    "is no lock file: a package is no table": "不是锁文件：package 不是表",
    "{text} is no name of a package": "{text} 不是包名",
    "{text} is no version": "{text} 不是版本号",
    "{text} is no marker": "{text} 不是环境标记",
    "{text} is no specifier of versions": "{text} 不是版本范围",
    "{option} has no value": "{option} 没有值",
    "has neither [project] nor [tool.poetry]": "既没有 [project] 也没有 [tool.poetry]",
    "extras were left out: {names}": "未计入可选依赖：{names}",
    "dependencies are no list": "dependencies 不是列表",
    "a dependency is no text": "某条依赖不是文本",
    # what the probe could not see
    "{folder} holds more than {number} names": "{folder} 中的条目超过 {number} 个",
    "the rest was not read": "其余未读取",
    "{folder} cannot be listed": "无法列出 {folder}",
    "{path} changes sys.path by code; it was not run": "{path} 用代码修改 sys.path；未运行它",
    "{path} may change sys.path; it was not run": "{path} 可能修改 sys.path；未运行它",
    "the site module of this interpreter is not known": "该解释器的 site 模块未知",
    "of the search path only the environment's site-packages was read": (
        "搜索路径中只读取了该环境的 site-packages"
    ),
    "PYTHONHOME is {folder}, which holds no standard library of {version}": (
        "PYTHONHOME 是 {folder}，其中没有 {version} 的标准库"
    ),
    "this interpreter cannot start while it is set": "只要设置了它，该解释器就无法启动",
    "{path} holds no mapping that can be read": "{path} 中没有可读取的映射",
    "{path} is not what PEP 610 describes": "{path} 不符合 PEP 610",
    "the search path has more than {number} folders": "搜索路径上的目录超过 {number} 个",
    "there are more than {number} distributions": "发行包超过 {number} 个",
    "the time was up at {path}": "读到 {path} 时超时",
    "no {file} that can be read": "没有可读取的 {file}",
    "{field} and no {other}": "{field} 和 {other}",
    "METADATA has no {fields}": "METADATA 中没有 {fields}",
    "PKG-INFO has no {fields}": "PKG-INFO 中没有 {fields}",
    "of {file} only the first {number} MiB was read": "{file} 只读取了前 {number} MiB",
    "a zipped egg, whose metadata was not read": "压缩的 egg，未读取其元数据",
    "left over from a pip run that was broken off; pip ignores it": "pip 中断后的残留；pip 会忽略它",
    "its project folder is not on the search path": "其项目目录不在搜索路径上",
    "its project folder {folder} holds no {name}": "其项目目录 {folder} 中没有 {name}",
    "the time was up: whether files are gone was not told": "超时：未判断文件是否缺失",
    "the time was up: whether copies are shadowed was not told": "超时：未判断副本是否被遮蔽",
    "not all imports of packages were followed to removed modules": "没有逐一查看包的导入语句是否用到已删除的标准库模块",
    "{file} states no __version__": "{file} 中没有 __version__",
    "version.py names no hip": "version.py 中没有 hip",
    "version.py names {names}": "version.py 中有 {names}",
    "neither TorchConfig.cmake nor the symbols of libc10.so tell it": (
        "TorchConfig.cmake 和 libc10.so 的符号都没有说明"
    ),
    "and {number} more that could not be read": "另有 {number} 项无法读取",
    # what relations could not decide
    "the requirement files do not name it": "依赖文件中没有它",
    "{file} does not say which release of {name} that is": "{file} 没有说明是 {name} 的哪个版本",
    "no release of {name} that is known fits {specifier}": "已知的 {name} 版本都不满足 {specifier}",
    "the requirement files do not say for which Python": "依赖文件没有说明使用哪个 Python",
    "no Python that is known fits {specifier}": "已知的 Python 版本都不满足 {specifier}",
    "which {name} pip takes depends on the metadata of {packages}": (
        "pip 选择哪个 {name} 取决于 {packages} 的元数据"
    ),
    "which {name} pip takes is not known: no known release fits the others": (
        "不知道 pip 会选择哪个 {name}：已知版本都与其余依赖不兼容"
    ),
    "{build} is newer than the matrices know ({newest})": "{build} 比兼容矩阵已知的版本（{newest}）更新",
    "{build} is older than the matrices know ({oldest})": "{build} 比兼容矩阵已知的版本（{oldest}）更旧",
    "which build it is cannot be told": "无法确定是哪个构建",
    "{build} is no build that the matrices know": "{build} 不是兼容矩阵已知的构建",
    "which builds of {build} there are is not known": "不知道 {build} 有哪些构建",
    "the {fact} is not said": "没有说明 {fact}",
    # what is asked of the matrices
    "{number} grids are as many as can be shown together": "一次最多显示 {number} 张表",
    "{what} is asked about alone; beside builds, assume it": "{what} 只能单独询问；和构建一起问时请用 --assume",
    "{name} is named twice": "{name} 写了两次",
    "{number} are as much as can be asked about together": "一次最多一起询问 {number} 个",
    "it was not asked about": "没有问到它",
    "findings are explained one at a time: explain {code}": "问题一次只能解释一个：explain {code}",
    "{text}: did you mean {name}?": "{text}：是否想写 {name}？",
    "{axis} can only be columns: matrix {turned}": "{axis} 只能作为列：matrix {turned}",
    "of a GPU: explain gpu={gpu}": "显卡请写 explain gpu={gpu}",
    "no finding and no package is called {name}; {hint}": "没有名为 {name} 的问题或软件包；{hint}",
    "the matrices have no {kind} {name}; nearest: {names}": "兼容矩阵中没有 {kind} {name}；最接近的是 {names}",
    "the matrices have no {kind} {name}": "兼容矩阵中没有 {kind} {name}",
    "this machine": "本机",
    "{text}: a package is expected, as in torch==1.9.1+cu111": "{text}：应为软件包，如 torch==1.9.1+cu111",
    "the matrices have no package {name}": "兼容矩阵中没有软件包 {name}",
    "the matrices have no package {name}; nearest: {names}": "兼容矩阵中没有软件包 {name}；最接近的是 {names}",
    "{name} has no release {version}; nearest: {releases}": "{name} 没有版本 {version}；最接近的是 {releases}",
    "{number} combinations are too many: name releases": "共有 {number} 种组合，太多了：请指定版本",
    "{component} is unknown": "{component} 未知",
    "too many builds may be installed": "可能安装的构建过多",
    "no source build is due": "不需要从源码编译",
    "no requirement files were read": "没有读取依赖文件",
    "no environment was examined": "没有检查任何环境",
    "{folder} holds metadata of {versions}": "{folder} 中有 {versions} 的元数据",
    "which one its files are of is not known": "不知道文件属于哪一个",
    "{folder} has no metadata that tells its version": "{folder} 没有说明其版本的元数据",
    "{module} is here by {package}, whose versions are not known": "{module} 由 {package} 提供，其版本未知",
    "pkg_resources is here, setuptools' metadata is not": "有 pkg_resources，但没有 setuptools 的元数据",
    "PTX of {name}": "{name} 的 PTX",
    "GPU code": "GPU 代码",
    "wheel tags": "wheel 标签",
    "{package} tests {name} in a way of its own": "{package} 以自己的方式检查 {name}",
    "{package} asserts {requirement}": "{package} 要求 {requirement}",
    "{attribute} {value} of {package}": "{package} 的 {attribute} {value}",
    "the version of Python is unknown": "Python 的版本未知",
    "compute capability of {gpu}": "{gpu} 的算力",
    "the {fact} is unknown": "{fact} 未知",
    "the GPU is unknown": "显卡未知",
    "there is no GPU here": "这里没有显卡",
    "{build} is not compared by its number": "{build} 不按版本号比较",
    "the {attribute} of {build} is not known": "{build} 的 {attribute} 未知",
    "not chosen yet": "尚未选定",
    "{name} is not chosen yet": "{name} 尚未选定",
    # what is asked of the resolver
    "{number} requirements are as many as can be named: write them to a file": "最多写 {number} 条依赖：更多的请写到文件里",
    "one profile is resolved at a time, not {names}": "一次只能处理一个训练配置，而这里有 {names}",
    "name a profile, requirements such as 'torch==2.1.0', or --requirements FILE; profiles: {names}": (
        "请指定训练配置、依赖（如 'torch==2.1.0'）或 --requirements FILE；训练配置有 {names}"
    ),
    "{file} is no profile: requirement files are named by --requirements": (
        "{file} 不是训练配置：依赖文件请用 --requirements 指定"
    ),
    "{text} is no profile and no requirement; a source tree is asked for as 'NAME @ file:///FOLDER'": (
        "{text} 既不是训练配置也不是依赖；源码目录请写成 'NAME @ file:///FOLDER'"
    ),
    "no profile and no package of the matrices is called {name}; {hint}": (
        "没有名为 {name} 的训练配置，兼容矩阵中也没有这个软件包；{hint}"
    ),
    "profiles: {names}": "训练配置有 {names}",
    "there is nothing to resolve: {reason}": "没有可求解的内容：{reason}",
    "{name} is needed": "需要 {name}",
    "nothing is compiled (--no-source)": "不从源码编译（--no-source）",
    "{package} {version} stays: it is {why}": "{package} {version} 保持不变：它是 {why}",
    "what brings no CUDA of its own loads that of the image": "不自带 CUDA 的包要加载镜像里的 CUDA",
    "what is compiled for a GPU needs a CUDA toolkit": "为显卡编译需要 CUDA 工具包",
    "an image with a toolkit has the CUDA that its framework was built for": (
        "带工具包的镜像，其 CUDA 与框架编译时所用的一致"
    ),
    "one package provides a module, with what it requires": "每个模块由一个软件包提供，连同它的依赖",
    "the {component} is to be chosen": "{component} 有待选择",
    "the {component} is left open": "{component} 未限定",
    "GPU {name} (compute capability {capability})": "显卡 {name}（算力 {capability}）",
    "command line": "命令行",
    "--lock and --format json would both go to stdout: name a file for the lock (-o FILE)": (
        "--lock 与 --format json 都会写到标准输出：请用 -o FILE 为锁文件指定位置"
    ),
    "this stack takes {number} files: {names}": "这个组合需要 {number} 个文件：{names}",
    "Name a folder: -o FOLDER/": "请指定目录：-o FOLDER/",
    "{file}: installers take no file of that name for a lock": "{file}：安装工具不认这个文件名的锁文件",
    "Call it pylock.toml or pylock.NAME.toml.": "请命名为 pylock.toml 或 pylock.NAME.toml。",
    "--lock {form}: {reason}": "--lock {form}：{reason}",
    "envdoctor: wrote {paths}": "envdoctor：已写入 {paths}",
    "markers of the lines": "依赖行中的环境标记",
    "left out: nothing that pip installs: {text}": "未计入：不是 pip 能安装的：{text}",
    "not judged: the matrices do not know {name}": "不作判断：兼容矩阵不知道 {name}",
    "the matrices know nothing of what is asked for: {names}": "兼容矩阵完全不知道所要求的软件包：{names}",
    "{name} is unknown; nearest: {near}": "{name} 未知；最接近的是 {near}",
    "taken as it is, and not judged: {text}": "原样采用，不作判断：{text}",
    "{text} is no version of {package}": "{text} 不是 {package} 的版本",
    "no release of {name} that is known fits {versions}; known are {first} to {last}": (
        "{name} 没有已知版本符合 {versions}；已知版本为 {first} 至 {last}"
    ),
    "{build} is a build that the matrices do not know": "兼容矩阵不知道 {build} 这个构建",
    "no Python that is known fits {versions}": "没有已知的 Python 符合 {versions}",
    "--keep: nothing that was asked for pins {name}; pinned: {names}": (
        "--keep：没有指定 {name} 的版本；指定了版本的有 {names}"
    ),
    "--prefer: there is no criterion {names}; known are {criteria}": "--prefer：没有 {names} 这样的标准；可用的有 {criteria}",
    "--prefer: {name} is named twice; known are {criteria}": "--prefer：{name} 写了两次；可用的有 {criteria}",
    # locks
    "there is no stack to lock": "没有可以锁定的版本组合",
    "{text} is not the name of a package": "{text} 不是包名",
    "{text} is not a version that an installer reads": "{text} 不是安装工具能识别的版本号",
    "{text} does not say which versions are meant": "{text} 没有说明指的是哪些版本",
    "{text} is not a URL that a lock can name": "{text} 不是可以写进锁文件的 URL",
    "{text} is not a hash": "{text} 不是哈希值",
    "{text} is not a folder that a lock can name": "{text} 不是可以写进锁文件的目录",
    "{text} is not a requirement that a lock can repeat": "{text} 不是可以写进锁文件的依赖",
    "{text} is not a requirement of {package}": "{text} 不是对 {package} 的依赖",
    "{text} is not an architecture of GPUs": "{text} 不是 GPU 架构",
    "{name} has no Python that envdoctor runs on": "{name} 没有 envdoctor 能运行的 Python",
    "--base-image: {text} is no name of an image": "--base-image：{text} 不是镜像名",
    "it is not known what system {image} is": "不知道 {image} 是什么系统",
    "{folder} of {package} is no folder of the code": "{package} 的 {folder} 不是训练代码里的目录",
    "{place}: profile: {text} is no name": "{place}：profile：{text} 不是名字",
    "{place}: repository: no name or commit of GitHub's": "{place}：repository：不是 GitHub 的仓库名或提交号",
    "the stack has no image: it was sought for another target": "这套环境没有镜像：它是为其他目标求解的",
    "the stack compiles parts of the training code: name its folder, --source": "这套环境要编译训练代码的一部分：请用 --source 指明代码目录",
    "no patch is called {name}": "没有名为 {name} 的补丁",
    "{package} is locked twice": "{package} 被锁定了两次",
    "{package} is on no index: its sources are at {place}, and which commit is meant is not known": "{package} 不在任何索引中：它的源码在 {place}，而要用哪个提交未知",
    "the installer took {package}, and {requirement} was asked for": "安装工具选了 {package}，而请求的是 {requirement}",
    "{package}: the option {option} of its installation is not understood": "{package}：无法理解它的安装选项 {option}",
    "{first} and {second} are both named for one package": "同一个包同时指定了 {first} 和 {second}",
    "{package} is built from patched sources, which no requirements file can say: --lock script writes a script that patches and builds them": "{package} 要用打过补丁的源码构建，requirements 文件无法表达：--lock script 会写出打补丁并构建的脚本",
    "pylock.toml cannot say how {names} is built: after what it is compiled against, and in the same environment. --lock requirements and --lock script can": "pylock.toml 无法表达如何构建 {names}：要在它编译所依赖的包之后、在同一个环境里构建。--lock requirements 和 --lock script 可以",
    "pylock.toml cannot hold {names}, whose dependencies no index states: --lock requirements and --lock script can": "pylock.toml 无法包含 {names}，没有索引说明它们的依赖：--lock requirements 和 --lock script 可以",
    "pylock.toml names every distribution, and not all is known of {names}: {reason}. --lock requirements does without": "pylock.toml 要写明每一个包，而 {names} 的情况不全：{reason}。--lock requirements 不需要它们",
    "pylock.toml needs the file and the hash of every distribution, and no index was asked for them: allow the network, or use --lock requirements": "pylock.toml 需要每个包的文件和哈希，而没有查询任何索引：请允许联网，或者改用 --lock requirements",
    "pylock.toml needs the file and the hash of every distribution, and none is known of {names}: its index was not asked or gave none. --lock requirements does without": "pylock.toml 需要每个包的文件和哈希，而 {names} 的未知：没有查询它的索引，或者索引没有给出。--lock requirements 不需要它们",
    "{names} and {number} more": "{names} 以及另外 {number} 个",
    # what stays
    "a vendor's or somebody's own build": "厂商或自行编译的构建",
    "installed from source": "从源码安装的",
    "a development build": "开发版构建",
    "conda's build": "conda 的构建",
    "the build for {vendor}": "面向 {vendor} 的构建",
    "the build for Jetson": "面向 Jetson 的构建",
    # changing an environment
    "{folder} is no folder": "{folder} 不是目录",
    "an earlier change of this environment was broken off: take it back": (
        "对这个环境的上一次修复中断了：请先撤销"
    ),
    "the snapshot cannot be written to {place}: {reason}": "快照无法写入 {place}：{reason}",
    "the snapshot in {place} cannot be read: {reason}": "{place} 里的快照无法读取：{reason}",
    "it was stopped": "被中断",
    "it took too long": "超过了时限",
    "no change of {path} is there to be taken back": "{path} 没有可以撤销的修复",
    "a step of the change still runs: process {number}": "修复的一个步骤仍在运行：进程 {number}",
    "nothing had been changed yet": "当时还没有改动任何东西",
    "it was asked for": "按要求撤销",
    "the environment was changed since, {path} among others: taking the change back would undo that, too": (
        "此后环境又有改动（例如 {path}）：撤销修复会连同这些改动一起撤销"
    ),
    "it is not known where the environment lies": "不知道环境在哪个目录",
    "the path of the environment holds characters that no command can show": (
        "环境的路径里有无法在命令中显示的字符"
    ),
    "{path} is {place}, which lies outside of the environment": "{path} 指向 {place}，在环境之外",
    "the environment has no site-packages of its own": "这个环境没有自己的 site-packages",
    "{path} says that this Python belongs to the system's packages (PEP 668): make an environment of your own": (
        "{path} 说明这个 Python 归系统的软件包管理（PEP 668）：请建一个自己的环境"
    ),
    "{path} belongs to the system: make an environment of your own": "{path} 属于系统：请建一个自己的环境",
    "{path} belongs to {name}, not to you": "{path} 属于 {name}，不属于您",
    "{path} is on a file system that is read-only": "{path} 所在的文件系统是只读的",
    "{path} cannot be written to": "{path} 不可写",
    "{path} lies outside of the environment": "{path} 在环境之外",
    "{path}/RECORD lists a file outside of the environment: {place}": (
        "{path}/RECORD 列出了环境之外的文件：{place}"
    ),
    "{path} is a link to {place}: outside": "{path} 是指向 {place} 的链接：在环境之外",
    "a snapshot takes up to {number} MiB in {place}, and {size} MiB are free there": (
        "快照最多占用 {place} 的 {number} MiB，那里只剩 {size} MiB"
    ),
    "the environment has no pip, and uv, which made it, is not on PATH": (
        "环境里没有 pip，而建立它的 uv 不在 PATH 中"
    ),
    "the environment has no pip: python -m ensurepip, run in it, gives it one": (
        "环境里没有 pip：在其中运行 python -m ensurepip 即可装上"
    ),
    "{path} is on another file system than the environment": "{path} 与环境不在同一个文件系统",
    "{path} holds too many files or folders to be kept": "{path} 里的文件或目录太多，无法保存",
    "{path} cannot be kept: {reason}": "{path} 无法保存：{reason}",
    "{path} was changed meanwhile by another process": "{path} 期间被别的进程改动",
    "{path} is new": "{path} 是新的",
    "{path} is gone": "{path} 不见了",
    "{path} has another kind, size, mode, owner or time": "{path} 的类型、大小、权限、属主或时间不同",
    "{path} has another content": "{path} 的内容不同",
    "{path} cannot be put back: {reason}": "{path} 无法恢复：{reason}",
    "others can write to {path}": "别的用户可以写入 {path}",
    "{path} cannot be made, where the snapshot is kept: {reason}": (
        "无法建立保存快照的 {path}：{reason}"
    ),
    "another envdoctor is changing this environment": "另一个 envdoctor 正在修复这个环境",
    "Name one: envdoctor repair --python PATH": "请指定一个：envdoctor repair --python PATH",
    "{option} goes with --apply": "{option} 要与 --apply 一起用",
    "{option} changes an environment of this machine, and --facts describes another": (
        "{option} 改动的是本机的环境，而 --facts 描述的是另一个"
    ),
    "--apply is for the machine that is there, and {place} assumes another: {setting}": (
        "--apply 针对的是本机，而 {place} 假设了另一台：{setting}"
    ),
    "the command line": "命令行",
    "nothing was changed: {reason}": "没有改动任何东西：{reason}",
    "nothing was changed: the environment is no longer the one that the plan is for": (
        "没有改动任何东西：环境已不是制定方案时的样子"
    ),
    "Look at the new plan: envdoctor repair": "请看新的方案：envdoctor repair",
    "nothing was changed": "没有改动任何东西",
    "--apply asks before it changes anything; without a terminal say --yes": (
        "--apply 会先询问再改动；没有终端时请加 --yes"
    ),
    "check finds what was not wrong before: {finding}": "检查发现了原来没有的问题：{finding}",
    "check still finds what was to be mended: {finding}": "本应修好的问题仍然存在：{finding}",
    "{number} files could not be put back: {reason}": "{number} 个文件无法恢复：{reason}",
    "What was kept of them stays in {place}: run envdoctor repair --rollback once more": (
        "保存的内容留在 {place}：请再运行一次 envdoctor repair --rollback"
    ),
    # assumptions
    "assumed ({by})": "假设（{by}）",
    "a GPU is assumed; what driver serves it was not said": "显卡是假设的；没有说明所用的驱动",
    "the driver is assumed": "驱动是假设的",
    "what driver {version} serves is unknown": "驱动 {version} 支持的 CUDA 版本未知",
    "{column} of {name} is unknown": "{name} 的 {column} 未知",
    "{setting}: KEY=VALUE is expected, KEY one of {keys}": (
        "{setting}：应为 KEY=VALUE，其中 KEY 为 {keys} 之一"
    ),
    "{setting}: a version is expected": "{setting}：应为版本号",
    "{setting}: a version like 3.8 is expected": "{setting}：应为 3.8 这样的版本号",
    "gpu is an architecture like sm_90 or one of {names}": "gpu 为 sm_90 这样的架构，或下列之一：{names}",
    "neither a known GPU nor an architecture like sm_90 (all: --gpu help)": (
        "既不是已知显卡，也不是 sm_90 这样的架构（--gpu help 列出全部）"
    ),
    "neither a known GPU nor an architecture like sm_90; nearest: {names} (all: --gpu help)": (
        "既不是已知显卡，也不是 sm_90 这样的架构；最接近的是 {names}（--gpu help 列出全部）"
    ),
    "no such branch is known ({branches})": "没有这个已知分支（已知：{branches}）",
    "no driver has such a number; nvidia-smi prints the driver's version beside the CUDA version that it serves": (
        "没有这样的驱动版本号；nvidia-smi 中驱动版本印在其支持的 CUDA 版本旁边"
    ),
    "{setting}: known are {names}": "{setting}：已知的有 {names}",
    # what is asked of a change
    "what is asked for": "所问的改动",
    "what was asked for": "所问的改动",
    "binaries of what is asked for are not there to be read": "要装的包还不在，无法读取其二进制文件",
    "{text} is not installed here": "这里没有安装 {text}",
    "{text} is not installed here; nearest: {names}": "这里没有安装 {text}；最接近的是 {names}",
    "neither the matrices nor this environment have a package {name}": "兼容矩阵和这个环境里都没有 {name} 这个包",
    "neither the matrices nor this environment have a package {name}; nearest: {names}": (
        "兼容矩阵和这个环境里都没有 {name} 这个包；最接近的是 {names}"
    ),
    "the matrices do not know its releases: a version is expected, as in {example}": (
        "兼容矩阵不了解它有哪些版本：请写出版本，例如 {example}"
    ),
    "{name} has no build {version} for this processor; its builds: {names}": (
        "{name} 没有适用于本机处理器的 {version} 构建；已有的构建：{names}"
    ),
    "nothing is asked: name a requirement, as in torch==1.9.1+cu111": "没有要问的改动：请写出需求，例如 torch==1.9.1+cu111",
    "{number} changes are as many as can be asked about together": "一次最多问 {number} 处改动",
    "the Python of an environment is not exchanged: make a new one": "环境的 Python 不能更换：请新建一个环境",
    "Name one: envdoctor what-if --python PATH ...": "请指定一个：envdoctor what-if --python PATH ...",
    # errors of the command line
    "envdoctor {version}, matrices of {date}": "envdoctor {version}，兼容矩阵版本 {date}",
    "{option} and {other} exclude each other": "{option} 与 {other} 不能同时使用",
    "{option} is given twice": "{option} 给了两次",
    "--write-baseline - and the report would both go to stdout: name a file, or give the report one "
    "(-o FILE)": "--write-baseline - 会与报告一起写到标准输出：请指定一个文件，或用 -o FILE 把报告写到文件",
    "envdoctor: ENVDOCTOR_LANG={language} is neither en nor zh: answering in English": "envdoctor：ENVDOCTOR_LANG={language} 既不是 en 也不是 zh：用英文回答",
    "{place}: baseline: {reason}": "{place}：baseline：{reason}",
    "there is no Python environment to examine": "没有可检查的 Python 环境",
    "Name one: envdoctor check --python PATH": "请指定一个：envdoctor check --python PATH",
    "Name one: envdoctor resolve --python PATH": "请指定一个：envdoctor resolve --python PATH",
    "{option} belongs after the command: {command}": "{option} 应写在子命令之后：{command}",
    "internal error: {error}": "内部错误：{error}",
    "Please report it with the lines below, and a snapshot: {command}": (
        "请附上下面这几行和一份快照反馈此问题：{command}"
    ),
    "the matrices cannot be read: {reason}": "无法读取兼容矩阵：{reason}",
    # logs, and commands that are run
    "Find the root cause in the log of a failure.": "在失败日志中找出根本原因。",
    "Find the root cause of a failure in its log, with the lines that prove it, and what mends it.": (
        "在日志中找出失败的根本原因，列出作为证据的行，并给出解决办法。"
    ),
    "LOG is what pip, conda, docker build, cmake, ninja, a compiler, Python, torchrun, NCCL or the kernel printed, of any size; - or nothing is standard input. Several logs of one job are judged together. Commands are shown and never run.": (
        "LOG 是 pip、conda、docker build、cmake、ninja、编译器、Python、torchrun、NCCL 或内核的输出，大小不限；"
        "- 或者不写表示标准输入。同一个任务的几份日志会一起判断。命令只显示，从不执行。"
    ),
    "Ways out are for the versions that the log tells. With --here, --python, --env or --facts they are for that environment, with --assume for what is assumed.": (
        "解决办法针对日志中写明的版本。使用 --here、--python、--env 或 --facts 时针对那个环境，使用 --assume 时针对所假定的内容。"
    ),
    "Exit code: 0 no cause in the environment is seen, 1 one is, 2 wrong usage, 3 a log cannot be read.": (
        "退出码：0 没有看到环境方面的原因；1 看到了；2 用法错误；3 日志无法读取。"
    ),
    "The log is of this machine: compute what mends it for the active environment.": (
        "日志来自本机：针对当前激活的环境给出解决办法。"
    ),
    "All causes that are seen, and candidates.": "列出看到的全部原因和可能的原因。",
    "The root cause in one line, no more.": "只用一行说出根本原因。",
    "Everything: more lines around, what was read.": "全部内容：更多上下文、读取了什么。",
    "name a log, or pipe one: COMMAND 2>&1 | envdoctor diagnose; envdoctor run -- COMMAND reads as it runs": (
        "请指定一份日志，或用管道传入：COMMAND 2>&1 | envdoctor diagnose；也可以用 envdoctor run -- COMMAND，边运行边读取"
    ),
    "{number} logs are as many as are read together": "最多一起读取 {number} 份日志",
    "the log and --facts cannot both be standard input": "日志和 --facts 不能都来自标准输入",
    "Name the files of it that are logs.": "请指定其中的日志文件。",
    "Run a command, and say why it failed if it does.": "运行一条命令，失败时说明原因。",
    "Run a command as if envdoctor were not there; where it fails, say why and what mends it.": (
        "运行一条命令，就像没有 envdoctor 一样；如果失败，说明原因和解决办法。"
    ),
    "What it prints passes through as it is, in a terminal where you have one; so do what you type and the signals that are sent. Of a command that succeeds nothing is told. What one that failed printed is read as `envdoctor diagnose` does, with the facts of this environment, and told on stderr. One that you interrupt is not judged.": (
        "命令的输出原样通过；你在终端里，命令就也在终端里；你的按键和发来的信号同样照传。命令成功时什么都不说。"
        "命令失败时，像 `envdoctor diagnose` 那样读取它的输出，并结合当前环境的信息，把结果写到标准错误。被你中断的命令不作判断。"
    ),
    "Exit code: the command's; 128 and the signal if one ended it; 127 if there is no such command, 126 if it cannot be run. 2 wrong usage, 3 the file of --log cannot be written; then nothing was run.": (
        "退出码：命令自己的退出码；被信号终止时为 128 加信号编号；没有这条命令时为 127，不能运行时为 126。"
        "2 用法错误；3 --log 的文件无法写入，此时什么都没有运行。"
    ),
    "Judge by what it printed alone.": "只根据命令的输出判断。",
    "Write what it prints to FILE, too.": "把命令的输出同时写入 FILE。",
    "Write the diagnosis here, not to stderr.": "把诊断写到这里，而不是标准错误。",
    "name a command: envdoctor run -- COMMAND...": "请指定一条命令：envdoctor run -- COMMAND...",
    "--facts needs the name of a file: standard input is the command's": (
        "--facts 需要一个文件名：标准输入是留给命令的"
    ),
    "--log needs the name of a file: what is printed passes through": "--log 需要一个文件名：命令的输出是原样通过的",
    "-o names the log itself: the answer would overwrite it": "-o 指定的就是日志本身：结果会把它覆盖",
    "-o and --log name one file: the answer would overwrite the log": "-o 与 --log 是同一个文件：结果会覆盖日志",
    "the log cannot be read: standard input is closed": "无法读取日志：标准输入已关闭",
    "--no-facts and --python, --env or --facts exclude each other": "--no-facts 与 --python、--env 或 --facts 不能同时使用",
    "{command}: cannot be run: {reason}": "{command}：无法运行：{reason}",
    "cannot write all of {file}: {reason}": "无法把全部输出写入 {file}：{reason}",
    # one binary
    "Tell what a binary is, and whether it would load.": "说明一个二进制文件是什么、能否加载。",
    "Tell what a binary is: what it needs, its symbols, its GPU code, and whether it would load.": (
        "说明一个二进制文件是什么：它需要哪些库、它的符号、其中的 GPU 代码，以及能否加载。"
    ),
    "PATH is a shared object, a program, an object file or a cubin. It is read and never executed. Whether it would load is simulated for the interpreter of --python or --env, else for the one that `check` examines.": (
        "PATH 是共享库、程序、目标文件或 cubin。只读取，不执行。能否加载是针对 --python 或 --env 的解释器模拟的，"
        "未指定时针对 `check` 所检查的解释器。"
    ),
    "Exit code: 0 it loads, or is nothing that is loaded, 1 it does not load, 2 wrong usage, 3 it cannot be read or its loading could not be simulated.": (
        "退出码：0 能加载，或者它本来就不是用来加载的；1 不能加载；2 用法错误；3 无法读取，或无法模拟加载。"
    ),
    "The interpreter that is to load it.": "用来加载它的解释器。",
    "The environment that is to load it, by name or folder.": "用来加载它的环境，给出名称或目录。",
    "Write the answer here, not to stdout.": "把结果写到这里，而不是标准输出。",
    "Everything that is loaded with it.": "列出随它加载的全部文件。",
    "{path} is a folder": "{path} 是目录",
    "Name a file of it; envdoctor check examines all files of an environment.": (
        "请指定其中的一个文件；检查环境里的全部文件请用 envdoctor check。"
    ),
    "no finding is called {name}; {hint}": "没有名为 {name} 的问题；{hint}",
    "a code or a name of findings is expected, and nothing was given": "应给出问题的代号或名称，但这里为空",
    "{file}: has schema version {version}; this envdoctor reads {known}": (
        "{file}：格式版本为 {version}；此 envdoctor 只能读取 {known}"
    ),
    "the probe itself failed": "探测自身出错",
    "is no baseline of `envdoctor check --write-baseline`": (
        "不是 `envdoctor check --write-baseline` 写出的基线文件"
    ),
    "{severity} is no severity": "{severity} 不是级别",
    "kind is not {kind}": "kind 不是 {kind}",
    "envdoctor: wrote {file} ({number} accepted from now on)": "envdoctor: 已写入 {file}（今后接受其中 {number} 个问题）",
    "--isolated leaves configuration files out.": "--isolated 可以不读取配置文件。",
    "[tool.envdoctor] is no table": "[tool.envdoctor] 不是表",
    "there is no key {key}; {hint}": "没有 {key} 这个键；{hint}",
    "known are {names}": "已知的有 {names}",
    "{key} is one of {values}, not {value}": "{key} 为 {values} 之一，不能是 {value}",
    "{key} is {expected}, not {value}": "{key} 应为{expected}，不能是{value}",
    "a text": "文本",
    "true or false": "true 或 false",
    "a list of texts": "文本列表",
    "a list of other things": "其他内容的列表",
    "a number": "数字",
    "a table": "表",
    "a date or a time": "日期或时间",
    "nearest: {names}": "最接近的是 {names}",
    "list them: {command}": "列出全部：{command}",
    "cannot write {file}: {reason}": "无法写入 {file}：{reason}",
    "cannot write to stdout: {reason}": "无法写入标准输出：{reason}",
    "envdoctor: wrote {file} ({size} KB, {personal})": "envdoctor: 已写入 {file}（{size} KB，{personal}）",
    "personal details left out": "已去除个人信息",
    "personal details included": "包含个人信息",
    "envdoctor: still working ...": "envdoctor: 仍在检查……",
    "gave up after {seconds} s (--timeout)": "{seconds} 秒后放弃（--timeout）",
    "A slow file system or a hanging driver may need more.": "文件系统较慢或驱动卡住时可能需要更长时间。",
    "{value} is not between {least} and {most} seconds.": "{value} 不在 {least} 到 {most} 秒之间。",
    "examines Linux on x86_64 and aarch64 (WSL and Jetson too), and this is {system}": (
        "只能检查 x86_64 和 aarch64 上的 Linux（包括 WSL 和 Jetson），而这里是 {system}"
    ),
    # click's own
    "No such option {option}.": "没有 {option} 这个选项。",
    "No such option {option}. Did you mean {other}?": "没有 {option} 这个选项，是否想用 {other}？",
    "No such option {option}. (Did you mean one of: {others}?)": "没有 {option} 这个选项（是否想用其中之一：{others}？）",
    "No such option: {option}": "没有这个选项：{option}",
    "No such option: {option} Did you mean {other}?": "没有这个选项：{option}，是否想用 {other}？",
    "No such option: {option} (Possible options: {options})": "没有这个选项：{option}（可能是：{options}）",
    "No such command {name}.": "没有 {name} 这个命令。",
    "No such command {name}. Did you mean {other}?": "没有 {name} 这个命令，是否想用 {other}？",
    "No such command {name}. (Did you mean one of: {others}?)": "没有 {name} 这个命令（是否想用其中之一：{others}？）",
    "Missing argument {name}.": "缺少参数 {name}。",
    "Option {option} requires an argument.": "选项 {option} 需要一个值。",
    "Option {option} does not take a value.": "选项 {option} 不接受值。",
    "Invalid value for {option}: {reason}": "{option} 的值无效：{reason}",
    "{value} is not one of {values}.": "{value} 不是下列之一：{values}。",
    "{value} is not a valid {type}.": "{value} 不是有效的 {type}。",
    "Got unexpected extra argument ({arguments})": "多余的参数（{arguments}）",
    "Got unexpected extra arguments ({arguments})": "多余的参数（{arguments}）",
    # help
    "{help}  [default: {value}]": "{help}  [默认：{value}]",
    "Show this message and exit.": "显示本帮助并退出。",
    "Show the version and the date of the matrices.": "显示版本和兼容矩阵的日期。",
    "Answer in English or Chinese. Default: ENVDOCTOR_LANG, else the configuration, else the locale.": (
        "用英文（en）或中文（zh）回答。默认依次取 ENVDOCTOR_LANG、配置、系统 locale。"
    ),
    "Leave out [tool.envdoctor] of pyproject.toml.": "不读取 pyproject.toml 中的 [tool.envdoctor]。",
    "Tell these findings only: codes, beginnings of codes (ED2) or names, with commas between them. Repeatable.": (
        "只报告这些问题：代号、代号的开头（ED2）或名称，用逗号分隔。可重复使用。"
    ),
    "Leave these findings out, given as for --select; the report says how many.": (
        "不报告这些问题，写法同 --select；报告会说明略去了多少。"
    ),
    "Accept the findings that FILE holds, which --write-baseline wrote; the report says how many, and what of it is gone.": (
        "接受 FILE 中的问题（由 --write-baseline 写出）；报告会说明接受了多少、哪些已不再出现。"
    ),
    "Write what is found to FILE, for --baseline to accept; exit with 0.": (
        "把发现的问题写入 FILE，供 --baseline 接受；退出码为 0。"
    ),
    "The interpreter of the environment to examine. Default: VIRTUAL_ENV, CONDA_PREFIX, then python3 on PATH.": (
        "要检查的环境的解释器。默认依次取 VIRTUAL_ENV、CONDA_PREFIX、PATH 中的 python3。"
    ),
    "The environment to examine, by name or folder.": "要检查的环境，用名称或目录指定。",
    "Examine a snapshot (envdoctor facts -o FILE), or a report as it is pasted into a tracker (collect_env, pip list, nvidia-smi, ...), in place of this machine; - is stdin.": (
        "不检查本机，而检查一份快照（envdoctor facts -o FILE），或贴在 issue 中的报告"
        "（collect_env、pip list、nvidia-smi 等）；- 表示标准输入。"
    ),
    "Judge as if a component were this: gpu=a100, driver=535.129.03, python=3.8, ... Repeatable, and beside what ENVDOCTOR_ASSUME holds.": (
        "假设某个组件如下再作判断：gpu=a100、driver=535.129.03、python=3.8 等。可重复使用，"
        "与 ENVDOCTOR_ASSUME 中的假设一同生效。"
    ),
    "Short for --assume {setting}...: {example}.": "即 --assume {setting}...：{example}。",
    "a100, rtx4090, sm_90 or a100,h100; help lists them": "a100、rtx4090、sm_90 或 a100,h100；写 help 列出全部",
    "535.129.03; of a branch, 535, its lowest release known": "535.129.03；若写分支 535，则取其已知的最低版本",
    "nvcc's CUDA, 12.1": "nvcc 的 CUDA 版本，如 12.1",
    "Say what a change would break, and what else must move.": "说明一处改动会弄坏什么、还必须一并更换什么。",
    "As if this package were removed; -PACKAGE is short for it. Repeatable.": (
        "当作卸载了这个包；可简写为 -PACKAGE。可重复使用。"
    ),
    "The verdict, no more.": "只显示结论。",
    "All files, reasons and sources.": "显示所有文件、原因和依据。",
    "Give up after this time.": "超过这一时间就放弃。",
    "Of an internal error, show paths as they are.": "出现内部错误时，原样显示路径。",
    "GPUs known by name, with their compute capability; any other: --gpu sm_90": (
        "按名称已知的显卡及其算力；其他显卡请写 --gpu sm_90"
    ),
    "Check what would be installed, with no environment: a requirement file of pip, environment.yml, pyproject.toml, uv.lock, poetry.lock or Pipfile.lock. Repeatable.": (
        "不检查环境，而检查将会安装的内容：pip 的依赖文件、environment.yml、pyproject.toml、"
        "uv.lock、poetry.lock 或 Pipfile.lock。可重复使用。"
    ),
    "Exit with 1 if there is a finding at least as grave as this.": "有达到该级别的问题时，退出码为 1。",
    "For people or for programs.": "供人阅读（text）或供程序读取（json）。",
    "Write the report here, not to stdout.": "把报告写入该文件，而不是标准输出。",
    "Write the page here, not to stdout.": "把说明写入该文件，而不是标准输出。",
    "Write the snapshot here, not to stdout.": "把快照写入该文件，而不是标准输出。",
    "The verdict and one line a finding, no more.": "只显示结论，每个问题一行。",
    "Everything: notes, sources, what was skipped.": "显示全部内容：提示、依据、跳过的检查。",
    "List what can be recognized, reading nothing.": "列出所有能识别的原因，不读取日志。",
    "List what can be found, examining nothing.": "列出所有能发现的问题，不做检查。",
    "Leave out names of users, homes and hosts. Default: in a FILE, which others may read.": (
        "去除用户名、家目录和主机名。默认只在写入 FILE 时去除，因为别人可能读到它。"
    ),
    "Do not say what was written.": "不提示写入了什么。",
    "Say what is wrong, why, and the smallest change.": "指出问题、原因和最小改动。",
    "Print what was observed, as JSON.": "以 JSON 输出观察到的事实。",
    "Say what is wrong with an environment, why, and the smallest change.": (
        "指出环境中的问题、原因和最小改动。"
    ),
    "Show the smallest change that mends it, or carry it out.": "显示修好环境的最小改动，或者执行它。",
    "Show the smallest change that makes `check` clean, or carry it out.": (
        "显示让 `check` 不再报告问题的最小改动，或者执行它。"
    ),
    "Without --apply nothing is changed. Builds of vendors, conda's builds for GPUs and what was installed from source are never exchanged.": (
        "不加 --apply 时不改动任何东西。厂商的构建、conda 的 GPU 构建和从源码安装的包从不替换。"
    ),
    "Exit code: 0 nothing to do, or carried out and clean; 1 a change is due, or something is left at or above --fail-on; 2 wrong usage; 3 the environment could not be examined, or is not to be changed; 4 carried out and put back.": (
        "退出码：0 无需修复，或已执行且没有问题；1 有待执行的改动，或留有达到 --fail-on 级别的问题；2 用法错误；"
        "3 无法检查环境，或环境不允许改动；4 执行后已撤回。"
    ),
    "Carry the change out: after a snapshot, and with all put back where a step fails or check finds something that was not wrong before.": (
        "执行改动：先做快照；某一步失败，或检查发现原来没有的问题时，全部恢复原样。"
    ),
    "Show the change and do nothing, which is the default.": "只显示改动，不执行；这是默认行为。",
    "With --apply: do not ask.": "与 --apply 一起用：不询问。",
    "With --apply: keep what came of it though check is not content.": (
        "与 --apply 一起用：即使检查仍有问题也保留结果。"
    ),
    "Take back the last change of the environment, or one that was broken off.": (
        "撤销对环境的上一次修复，或中断了的修复。"
    ),
    "The verdict and the commands, no more.": "只显示结论和命令。",
    "Everything: reasons, and all ways to see it.": "全部：原因，以及所有自查方法。",
    "Exit code: 0 nothing at or above --fail-on, 1 something is, 2 wrong usage, 3 the environment could not be examined.": (
        "退出码：0 没有达到 --fail-on 级别的问题，1 有，2 用法错误，3 无法检查环境。"
    ),
    "Say what would stop working here if these were installed: torch==1.9.1+cu111.": (
        "说明装上这些之后，这里有什么会不能用：torch==1.9.1+cu111。"
    ),
    "By relation and by file; what else must move, with the commands; and whether a separate environment is safer. Nothing is installed.": (
        "逐条约束、逐个文件地说明；还必须一并更换什么，给出命令；以及单独建一个环境是否更安全。不会安装任何东西。"
    ),
    "--driver, --gpu and what else --assume says are changes of the machine here: what would stop working with them. What ENVDOCTOR_ASSUME holds is the machine as it is.": (
        "--driver、--gpu 以及 --assume 的其他设置在这里是对机器的改动：换成那样之后什么会不能用。"
        "ENVDOCTOR_ASSUME 中的设置是机器的现状。"
    ),
    "Exit code: 0 nothing breaks, or what else must move mends it, 1 something does, 2 wrong usage, 3 the environment could not be examined.": (
        "退出码：0 什么都不坏，或者一并更换即可补救，1 有会坏的，2 用法错误，3 无法检查环境。"
    ),
    "Explain a finding, a build, or whether builds fit each other.": "解释一个问题、一个构建，或者几个构建能否一起用。",
    "All builds, products, relations and sources.": "列出全部构建、显卡、约束关系和来源。",
    "Or tell what the matrices know, with sources: of a build (torch==1.9.1+cu111), of a package (mmcv-full), of a GPU, a driver, a CUDA, a Python or a system (gpu=h100, driver=535, cuda=11.8, python=3.8, os=ubuntu:20.04).": (
        "或者给出兼容矩阵所知的内容及来源：一个构建（torch==1.9.1+cu111）、一个软件包（mmcv-full），"
        "或者一种显卡、驱动、CUDA、Python、系统（gpu=h100、driver=535、cuda=11.8、python=3.8、os=ubuntu:20.04）。"
    ),
    "Or whether several builds fit each other, how and why not: mmcv-full==1.4.0 torch==2.0.1. Ranges and bare names are open. This machine is not looked at: what --assume says of one is asked, nothing else.": (
        "或者几个构建能否一起用、怎样用、为什么不行：mmcv-full==1.4.0 torch==2.0.1。"
        "范围和只写名字的不限定版本。不检查本机：只考虑 --assume 所说的机器。"
    ),
    "Exit code: 0 it was answered, whatever the answer, 2 wrong usage.": "退出码：0 已回答（不论答案），2 用法错误。",
    "Find the best stack that fits, or why there is none.": "找出最合适的版本组合，或者说明为什么没有。",
    "Find the best stack for a profile, for requirements, or for both.": (
        "为训练配置、依赖或两者一起找出最合适的版本组合。"
    ),
    "WHAT is the name of a profile (maptr) or its file (./profile.yaml), or a requirement (torch==2.1.0, 'numpy<2', torchvision). It is sought for this machine, or for the one that --gpu, --driver and --assume state, several GPUs at once: --gpu a100,h100.": (
        "WHAT 是训练配置的名称（maptr）或文件（./profile.yaml），或者一条依赖（torch==2.1.0、'numpy<2'、torchvision）。"
        "针对本机求解，或者针对 --gpu、--driver、--assume 所说的机器，可以同时写几种显卡：--gpu a100,h100。"
    ),
    'What a profile pins may be relaxed, and the answer says what had to go and why; what the command line and files ask for may not. "proved" means that no stack is better by the criteria in their order. Where there is none, the smallest reasons are told, and what would do instead.': (
        "训练配置指定的版本可以放宽，回答会说明放宽了哪些、为什么；命令行和文件中的要求不会放宽。"
        "“已证明”表示按各项标准的次序没有更好的组合。没有可行的组合时，给出最小的原因，以及可行的办法。"
    ),
    "Exit code: 0 there is a stack, 1 there is none, or a file of it is missing (--verify), 2 wrong usage, 3 it could not be found out.": (
        "退出码：0 有可行的组合，1 没有，或者缺少其中的文件（--verify），2 用法错误，3 无法得出结论。"
    ),
    "Ask uv or pip, and with them the network, for what stands around the stack. Default: where a lock is written.": (
        "联网向 uv 或 pip 询问组合之外的其余依赖。默认只在写锁文件时询问。"
    ),
    "Ask the indexes whether each file exists.": "向软件源确认每个文件都存在。",
    "The model whose stack is asked for: the name of a profile, or the file of one.": (
        "要安装的模型：训练配置的名称，或者它的文件。"
    ),
    "Ask for what this file does: a requirement file of pip, environment.yml, pyproject.toml, uv.lock, poetry.lock or Pipfile.lock. Repeatable.": (
        "要求满足这个文件：pip 的依赖文件、environment.yml、pyproject.toml、"
        "uv.lock、poetry.lock 或 Pipfile.lock。可重复使用。"
    ),
    "What may be chosen: the packages of this environment (host), a new environment with its Python (venv), or an image with its system, CUDA toolkit and compiler (image). Default: image for a profile, else venv.": (
        "哪些可以任选：当前环境中的软件包（host），新环境及其 Python（venv），或者镜像及其系统、CUDA 工具包和编译器（image）。"
        "默认：训练配置用 image，否则用 venv。"
    ),
    "Do not relax what the profile pins of this package. Repeatable.": "不放宽训练配置对这个软件包的版本指定。可重复使用。",
    "Nothing may be compiled: wheels only.": "不从源码编译，只用 wheel 包。",
    "Let these criteria weigh most, in this order: {criteria}.": "让这些标准依次优先：{criteria}。",
    "Write the stack as requirement files, as pylock.toml, or as a shell script that installs it, with -o to a file or FOLDER/; without -o to stdout, and the verdict to stderr.": (
        "把版本组合写成依赖文件、pylock.toml 或安装用的 shell 脚本；用 -o 指定文件或 FOLDER/，"
        "不写 -o 则输出到标准输出，结论输出到标准错误。"
    ),
    "Write the answer here, not to stdout; with --lock the lock, and the answer to stdout.": (
        "把结果写到这里，而不是标准输出；有 --lock 时写锁文件，结果仍输出到标准输出。"
    ),
    "All reasons, with the builds that each rejects.": "列出全部原因，以及各自排除的构建。",
    "The verdict and the stack, no more.": "只显示结论和版本组合。",
    "Everything: sources, all criteria, all ways.": "显示全部内容：来源、所有标准、所有办法。",
    "Show which releases fit which, as a grid.": "用表格显示哪些版本可以一起用。",
    "For people, for programs, or a page to print.": "给人看、给程序用，或者可打印的网页。",
    "Put the matrices of this folder over those that ship: packages/*.yaml and platform/*.yaml. Repeatable.": (
        "用这个目录中的兼容矩阵覆盖自带的：packages/*.yaml 和 platform/*.yaml。可重复使用。"
    ),
    "Write the grid here, not to stdout.": "把表格写到这里，而不是标准输出。",
    "All reasons, and their sources.": "列出全部原因及其来源。",
    "Show which releases of a package fit which of another: prebuilt, from source, or not at all.": (
        "显示一个软件包的哪些版本能与另一个的哪些版本一起用：有 wheel 包、从源码编译，还是不行。"
    ),
    'The rows are releases of the first PACKAGE, folded where they are alike, the columns those of each other: torch mmcv-full. Ranges are understood: \'torch>=2.0\'. In place of another package "gpu" stands for GPUs (those of --gpu, else all), "python" for Pythons; one package alone is shown against GPUs if it has code for them, else against Pythons.': (
        "行是第一个 PACKAGE 的版本，相同的合并；列是其余各个软件包的版本：torch mmcv-full。"
        '可以写范围：\'torch>=2.0\'。也可以用 "gpu" 表示显卡（--gpu 指定的，否则为全部）、"python" 表示 Python 代替另一个软件包；'
        "只写一个软件包时，有 GPU 代码的与显卡对照，否则与 Python 对照。"
    ),
    "The grid is for this machine and its environment's Python, or for what --assume says. What neither knows is not asked. Below it stands why cells are no.": (
        "表格针对本机和当前环境的 Python，或者 --assume 所说的机器；两者都不知道的不作判断。表格下面说明为什么不行。"
    ),
    "Exit code: 0 it was shown, 2 wrong usage, 3 the machine could not be examined.": "退出码：0 已显示，2 用法错误，3 无法检查本机。",
    "Explain a finding or a cause of failures, by its code (ED412) or its name.": (
        "解释一个问题或一种失败原因，用代号（ED412）或名称指定。"
    ),
    "Print what was observed, each fact with where it was read, as JSON.": (
        "以 JSON 输出观察到的事实，每项都注明从何处读到。"
    ),
    "Every command takes it back with --facts FILE, so it can be attached to a report and replayed.": (
        "所有命令都可以用 --facts FILE 读回它，因此可以附在问题反馈中并重现。"
    ),
    "Say, before GPU time is burnt, whether a training stack can run.": (
        "在浪费显卡时间之前，判断训练环境能否运行。"
    ),
    "Without a command: this machine, the target environment and the verdict, at a glance. Reads only; never imports the packages it examines, never changes them, sends nothing.": (
        "不带命令时：概览本机、要检查的环境和结论。只读：不导入、不修改所检查的包，不发送任何内容。"
    ),
    'Models, the last answer, are the profiles that ship with envdoctor. "ready": this environment holds the stack that the authors pin, and nothing in it is broken. "new env": it does not, but this machine runs that stack in an environment of its own. "not as pinned": the GPU, the driver or the system rules that stack out; other versions are needed. "GPU unknown", "not judged": it cannot be told here.': (
        "最后一项“模型”是 envdoctor 自带的训练配置。“可用”：该环境就是作者锁定的版本组合，且没有问题。"
        "“新建环境”：该环境不是，但本机可以在单独的环境中运行该组合。“需换版本”：显卡、驱动或系统"
        "不支持该组合，需要其他版本。“显卡未知”“未判断”：在这里无法判断。"
    ),
    "Exit code: 0 no error was found, 1 one was, 2 wrong usage, 3 the environment could not be examined.": (
        "退出码：0 没有发现错误，1 发现错误，2 用法错误，3 无法检查环境。"
    ),
}
