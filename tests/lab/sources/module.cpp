// A module of Python that is called MODULE, without Python's headers. It calls the function CALLS
// when it is imported.
struct Base { long references; void *type, *init; long index; void *copy; };
struct Definition {
  Base base; const char *name, *doc; long size;
  void *methods, *slots, *traverse, *clear, *free;
};
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#define JOINED_(first, second) first##second
#define JOINED(first, second) JOINED_(first, second)

extern "C" {
void *PyModule_Create2(void *, int);
#ifdef CALLS
void CALLS();
#endif
static Definition definition = {{1}, TEXT(MODULE), 0, -1};
void *JOINED(PyInit_, MODULE)() {
#ifdef CALLS
  CALLS();
#endif
  return PyModule_Create2(&definition, 1013);
}
}
