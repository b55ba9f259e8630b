# SPDX-License-Identifier: Apache-2.0
# NVIDIA devices: compiled where nvcc is found, by commands of our own (each source is for one architecture), and added
# to poolcast_kernels. Nothing of it needs a driver before a device is asked for.
option(POOLCAST_CUDA "Build the CUDA kernels where nvcc is found" ON)
set(CUDA_DIR ${CMAKE_CURRENT_LIST_DIR})
cmake_path(SET CUDA_ROOM_ROOT NORMALIZE ${CUDA_DIR}/../..)
find_program(POOLCAST_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin /usr/local/cuda/bin)

set(CUDA_MISSING "")
set(POOLCAST_CUDA_BUILT OFF CACHE INTERNAL "whether kernels/cuda is in this build")
if(NOT POOLCAST_CUDA)
  set(CUDA_MISSING "POOLCAST_CUDA is OFF")
elseif(NOT POOLCAST_NVCC)
  set(CUDA_MISSING "no nvcc")
else()
  file(REAL_PATH ${POOLCAST_NVCC} NVCC_PATH)
  cmake_path(GET NVCC_PATH PARENT_PATH NVCC_BIN)
  cmake_path(GET NVCC_BIN PARENT_PATH CUDA_HOME)
  execute_process(COMMAND ${POOLCAST_NVCC} --version OUTPUT_VARIABLE NVCC_VERSION RESULT_VARIABLE NVCC_FAILED)
  string(REGEX MATCH "release ([0-9]+)\\.([0-9]+)" _ "${NVCC_VERSION}")
  set(NVCC_RELEASE "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  find_file(CUDA_RUNTIME_HEADER cuda_runtime_api.h HINTS ${CUDA_HOME}/include ${CUDA_HOME}/targets/x86_64-linux/include)
  find_file(CUBLAS_HEADER cublas_v2.h HINTS ${CUDA_HOME}/include ${CUDA_HOME}/targets/x86_64-linux/include)
  find_library(CUDART_STATIC cudart_static HINTS ${CUDA_HOME}/lib64 ${CUDA_HOME}/lib
               ${CUDA_HOME}/targets/x86_64-linux/lib)
  if(NVCC_FAILED OR NVCC_RELEASE VERSION_LESS 12.9)
    set(CUDA_MISSING "nvcc ${NVCC_RELEASE} is too old, sm_100a and C++20 need 12.9")
  elseif(NOT CUDA_RUNTIME_HEADER OR NOT CUBLAS_HEADER OR NOT CUDART_STATIC)
    set(CUDA_MISSING "nvcc without cuda_runtime_api.h, cublas_v2.h or libcudart_static.a")
  endif()
endif()

if(CUDA_MISSING)
  message(STATUS "CUDA kernels: skipped, ${CUDA_MISSING}")
  target_sources(poolcast_kernels PRIVATE ${CUDA_DIR}/absent.cpp)
  set_source_files_properties(${CUDA_DIR}/absent.cpp PROPERTIES COMPILE_DEFINITIONS
                              "POOLCAST_CUDA_MISSING=\"${CUDA_MISSING}\"")
  return()
endif()

message(STATUS "CUDA kernels: nvcc ${NVCC_RELEASE}, sm_90a, sm_100a and portable")
cmake_path(GET CUDA_RUNTIME_HEADER PARENT_PATH CUDA_INCLUDE)
find_package(Threads REQUIRED)
set(POOLCAST_CUDA_BUILT ON CACHE INTERNAL "")

# sm_90 and sm_100 for the portable ones are the devices at hand; compute_80 is for the driver to translate elsewhere.
set(CUDA_FLAGS_portable -gencode=arch=compute_80,code=compute_80 -gencode=arch=compute_90,code=sm_90)
set(CUDA_FLAGS_hopper -gencode=arch=compute_90a,code=sm_90a)
set(CUDA_FLAGS_blackwell -gencode=arch=compute_100a,code=sm_100a)
file(GLOB CUDA_SOURCES CONFIGURE_DEPENDS ${CUDA_DIR}/*.cu)
set(CUDA_OBJECTS "")
foreach(SOURCE ${CUDA_SOURCES})
  cmake_path(GET SOURCE STEM NAME)
  string(REGEX MATCH "^[a-z]+" FAMILY ${NAME})
  set(OBJECT ${CMAKE_CURRENT_BINARY_DIR}/cuda/${NAME}.o)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cuda)
  add_custom_command(
    OUTPUT ${OBJECT}
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${POOLCAST_NVCC} -std=c++20 -O3 --expt-relaxed-constexpr -Werror all-warnings
            ${CUDA_FLAGS_${FAMILY}} -I${CUDA_ROOM_ROOT} -MD -MF ${OBJECT}.d -MT ${OBJECT} -c ${SOURCE} -o ${OBJECT}
    DEPENDS ${SOURCE} DEPFILE ${OBJECT}.d VERBATIM COMMENT "Building CUDA object ${NAME}.o")
  list(APPEND CUDA_OBJECTS ${OBJECT})
endforeach()

file(GLOB CUDA_HOST_SOURCES CONFIGURE_DEPENDS ${CUDA_DIR}/*.cpp)
list(REMOVE_ITEM CUDA_HOST_SOURCES ${CUDA_DIR}/absent.cpp)
target_sources(poolcast_kernels PRIVATE ${CUDA_HOST_SOURCES} ${CUDA_OBJECTS})
set_source_files_properties(${CUDA_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
target_include_directories(poolcast_kernels SYSTEM PRIVATE ${CUDA_INCLUDE})
target_link_libraries(poolcast_kernels PRIVATE ${CUDART_STATIC} Threads::Threads ${CMAKE_DL_LIBS} rt)
