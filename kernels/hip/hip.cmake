# SPDX-License-Identifier: Apache-2.0
# AMD devices: compiled where hipcc is found, and added to poolcast_kernels, which then links libamdhip64.
option(POOLCAST_HIP "Build the HIP kernels where hipcc is found" ON)
set(HIP_DIR ${CMAKE_CURRENT_LIST_DIR})
find_program(POOLCAST_HIPCC hipcc HINTS $ENV{ROCM_PATH}/bin /opt/rocm/bin)
find_library(HIP_RUNTIME amdhip64 HINTS $ENV{ROCM_PATH}/lib /opt/rocm/lib)

set(HIP_MISSING "")
if(NOT POOLCAST_HIP)
  set(HIP_MISSING "POOLCAST_HIP is OFF")
elseif(NOT POOLCAST_HIPCC)
  set(HIP_MISSING "no hipcc")
elseif(NOT HIP_RUNTIME)
  set(HIP_MISSING "no libamdhip64")
endif()

if(HIP_MISSING)
  message(STATUS "HIP kernels: skipped, ${HIP_MISSING}")
  target_sources(poolcast_kernels PRIVATE ${HIP_DIR}/absent.cpp)
  set_source_files_properties(${HIP_DIR}/absent.cpp PROPERTIES COMPILE_DEFINITIONS
                              "POOLCAST_HIP_MISSING=\"${HIP_MISSING}\"")
else()
  message(STATUS "HIP kernels: gfx90a and gfx940")
  file(GLOB HIP_SOURCES CONFIGURE_DEPENDS ${HIP_DIR}/*.hip)
  set(HIP_OBJECTS "")
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/hip)
  foreach(SOURCE ${HIP_SOURCES})
    cmake_path(GET SOURCE STEM NAME)
    set(OBJECT ${CMAKE_CURRENT_BINARY_DIR}/hip/${NAME}.o)
    add_custom_command(
      OUTPUT ${OBJECT}
      COMMAND ${POOLCAST_HIPCC} -std=c++20 -O3 -fPIE -Wall -Wextra -Werror --offload-arch=gfx90a --offload-arch=gfx940
              -I${PROJECT_SOURCE_DIR} -MD -MF ${OBJECT}.d -MT ${OBJECT} -x hip -c ${SOURCE} -o ${OBJECT}
      DEPENDS ${SOURCE} DEPFILE ${OBJECT}.d VERBATIM COMMENT "Building HIP object ${NAME}.o")
    list(APPEND HIP_OBJECTS ${OBJECT})
  endforeach()
  file(GLOB HIP_TABLES CONFIGURE_DEPENDS ${HIP_DIR}/*.cpp)
  list(REMOVE_ITEM HIP_TABLES ${HIP_DIR}/absent.cpp)
  target_sources(poolcast_kernels PRIVATE ${HIP_TABLES} ${HIP_OBJECTS})
  set_source_files_properties(${HIP_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_link_libraries(poolcast_kernels PRIVATE ${HIP_RUNTIME})
endif()
