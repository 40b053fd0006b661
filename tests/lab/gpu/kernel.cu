// Writes numbers on the GPU and says what CUDA answered. NAME is the name of the kernel.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void NAME(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i * 3;
}

#define JOINED(a, b) a##b
#define RUN(name) JOINED(run_, name)

extern "C" int RUN(NAME)(int *host, int n, char *text, int size) {
    int *device = nullptr;
    cudaError_t error = cudaMalloc(&device, n * sizeof(int));
    if (error == cudaSuccess) {
        NAME<<<(n + 127) / 128, 128>>>(device, n);
        error = cudaGetLastError();
        if (error == cudaSuccess) error = cudaDeviceSynchronize();
        if (error == cudaSuccess) error = cudaMemcpy(host, device, n * sizeof(int), cudaMemcpyDeviceToHost);
    }
    snprintf(text, size, "%s: %s", cudaGetErrorName(error), cudaGetErrorString(error));
    return error;
}
