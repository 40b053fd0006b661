// The least that depends on torch: a tensor that is not defined, and a check with a text.
#include <Python.h>
#include <ATen/core/Tensor.h>

#include <string>

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#define JOINED_(first, second) first##second
#define JOINED(first, second) JOINED_(first, second)

static PyObject* defined(PyObject*, PyObject*) {
  at::Tensor tensor;
  std::string text = "a tensor that is not defined";
  TORCH_INTERNAL_ASSERT(!tensor.defined(), text);
  return PyBool_FromLong(tensor.defined());
}

static PyMethodDef methods[] = {{"defined", defined, METH_NOARGS, ""}, {}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, TEXT(TORCH_EXTENSION_NAME), "", -1, methods};
PyMODINIT_FUNC JOINED(PyInit_, TORCH_EXTENSION_NAME)() { return PyModule_Create(&module); }
