// SPDX-License-Identifier: Apache-2.0
#include "kernels/opencl/device.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <array>
#include <stdexcept>

#include "kernels/opencl/opencl.h"
#include "kernels/opencl/sources.h"

namespace poolcast::kernels {
namespace {

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) throw std::runtime_error(std::string("OpenCL: ") + call + ": error " + std::to_string(code));
}

std::vector<cl_platform_id> platforms() {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_platform_id> all(count);
  clGetPlatformIDs(count, all.data(), nullptr);
  return all;
}

cl_device_id first_of(cl_device_type type) {
  for (cl_platform_id platform : platforms()) {
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platform, type, 1, &device, nullptr) == CL_SUCCESS) return device;
  }
  return nullptr;
}

std::string text(cl_device_id device, cl_device_info what) {
  std::array<char, 256> buffer{};
  clGetDeviceInfo(device, what, buffer.size() - 1, buffer.data(), nullptr);
  return buffer.data();
}

/// One device, context and queue for the program.
struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  Device() {
    id = first_of(CL_DEVICE_TYPE_GPU);
    if (!id) id = first_of(CL_DEVICE_TYPE_ALL);
    if (!id) return;
    cl_int code = 0;
    context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue = clCreateCommandQueue(context, id, CL_QUEUE_PROFILING_ENABLE, &code);
    check(code, "clCreateCommandQueue");
  }
};

const Device& device() {
  static const Device one;
  return one;
}

/// Larger than the caches; one for the program.
struct FlushBuffer {
  std::vector<char> zeros = std::vector<char>(std::size_t{256} << 20);
  cl_mem buffer = nullptr;

  FlushBuffer() {
    cl_int code = 0;
    buffer = clCreateBuffer(device().context, CL_MEM_READ_WRITE, zeros.size(), nullptr, &code);
    check(code, "clCreateBuffer");
  }
};

}  // namespace

std::string opencl_device_name() {
  if (!device().id) return "";
  cl_platform_id platform = nullptr;
  std::array<char, 256> name{};
  clGetDeviceInfo(device().id, CL_DEVICE_PLATFORM, sizeof platform, static_cast<void*>(&platform), nullptr);
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr);
  return text(device().id, CL_DEVICE_NAME) + " (" + name.data() + ")";
}

bool opencl_on_cpu() {
  if (!device().id) return false;
  cl_device_type type = 0;
  clGetDeviceInfo(device().id, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  return (type & CL_DEVICE_TYPE_CPU) != 0;
}

bool opencl_on_one_cpu() {
  if (!opencl_on_cpu()) return false;
  cl_uint units = 0;
  clGetDeviceInfo(device().id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr);
  return units == 1;
}

struct OpenClRun::Objects {
  struct Output {
    cl_mem buffer;
    void* host;
    std::size_t bytes;
  };

  ~Objects() {
    for (cl_mem buffer : buffers) clReleaseMemObject(buffer);
    if (kernel) clReleaseKernel(kernel);
    if (program) clReleaseProgram(program);
  }

  cl_mem buffer(const void* host, std::size_t bytes) {
    cl_int code = 0;
    // The host's data is copied here and not changed.
    cl_mem made = clCreateBuffer(device().context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
                                 const_cast<void*>(host), &code);
    check(code, "clCreateBuffer");
    buffers.push_back(made);
    return made;
  }

  void argument(const void* value, std::size_t bytes) {
    check(clSetKernelArg(kernel, arguments++, bytes, value), "clSetKernelArg");
  }

  cl_program program = nullptr;
  cl_kernel kernel = nullptr;
  cl_uint arguments = 0;
  std::vector<cl_mem> buffers;
  std::vector<Output> outputs;
  std::array<std::size_t, 2> items{}, group{};
};

OpenClRun::OpenClRun() : objects_(std::make_unique<Objects>()) {}
OpenClRun::~OpenClRun() = default;

void OpenClRun::build(const char* source, const std::string& options, const std::string& kernel) {
  cl_int code = 0;
  std::array<const char*, 2> parts = {kOpenClElement, source};
  objects_->program = clCreateProgramWithSource(device().context, 2, parts.data(), nullptr, &code);
  check(code, "clCreateProgramWithSource");
  code = clBuildProgram(objects_->program, 1, &device().id, options.c_str(), nullptr, nullptr);
  if (code != CL_SUCCESS) {
    std::string log(16384, '\0');
    clGetProgramBuildInfo(objects_->program, device().id, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
    throw std::runtime_error("OpenCL: clBuildProgram: " + std::string(log.c_str()));
  }
  objects_->kernel = clCreateKernel(objects_->program, kernel.c_str(), &code);
  check(code, "clCreateKernel");
}

void OpenClRun::input(const void* host, std::int64_t bytes) {
  cl_mem buffer = objects_->buffer(host, static_cast<std::size_t>(bytes));
  objects_->argument(static_cast<const void*>(&buffer), sizeof buffer);
}

void OpenClRun::output(void* host, std::int64_t bytes) {
  cl_mem buffer = objects_->buffer(host, static_cast<std::size_t>(bytes));
  objects_->outputs.push_back({buffer, host, static_cast<std::size_t>(bytes)});
  objects_->argument(static_cast<const void*>(&buffer), sizeof buffer);
}

void OpenClRun::number(std::int64_t value) {
  const auto narrow = static_cast<cl_int>(value);
  objects_->argument(&narrow, sizeof narrow);
}

void OpenClRun::number(float value) { objects_->argument(&value, sizeof value); }

void OpenClRun::range(std::int64_t x, std::int64_t y, std::int64_t group_x, std::int64_t group_y) {
  objects_->items = {static_cast<std::size_t>(x), static_cast<std::size_t>(y)};
  objects_->group = {static_cast<std::size_t>(group_x), static_cast<std::size_t>(group_y)};
}

Seconds OpenClRun::launch() {
  cl_event event = nullptr;
  check(clEnqueueNDRangeKernel(device().queue, objects_->kernel, 2, nullptr, objects_->items.data(),
                               objects_->group.data(), 0, nullptr, &event),
        "clEnqueueNDRangeKernel");
  check(clWaitForEvents(1, &event), "clWaitForEvents");
  cl_ulong start = 0, end = 0;  // ns
  clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
  clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
  clReleaseEvent(event);
  return Seconds(1e-9 * static_cast<double>(end - start));
}

void OpenClRun::upload_outputs() {
  for (const Objects::Output& out : objects_->outputs)
    check(clEnqueueWriteBuffer(device().queue, out.buffer, CL_TRUE, 0, out.bytes, out.host, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
}

void OpenClRun::download_outputs() {
  for (const Objects::Output& out : objects_->outputs)
    check(clEnqueueReadBuffer(device().queue, out.buffer, CL_TRUE, 0, out.bytes, out.host, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
}

void OpenClRun::cool() {
  static FlushBuffer flush;
  check(clEnqueueWriteBuffer(device().queue, flush.buffer, CL_TRUE, 0, flush.zeros.size(), flush.zeros.data(), 0,
                             nullptr, nullptr),
        "clEnqueueWriteBuffer");
}

}  // namespace poolcast::kernels
