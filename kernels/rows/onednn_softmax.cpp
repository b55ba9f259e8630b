// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/onednn_softmax.h"

#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>

namespace poolcast::kernels {

std::function<void()> onednn_softmax(RowCase& data, Memory&, Team& team) {
  using dnnl::memory;
  const auto type = data.task.bf16 ? memory::data_type::bf16 : memory::data_type::f32;
  const memory::desc rows({data.task.rows, data.task.columns}, type, memory::format_tag::ab);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnnl::softmax_forward::desc wanted(dnnl::prop_kind::forward_inference, rows, 1);
  const dnnl::softmax_forward softmax(dnnl::softmax_forward::primitive_desc(wanted, engine));
  const memory in(rows, engine, const_cast<void*>(data.task.in)), out(rows, engine, data.task.out);
  return [softmax, in, out, stream = dnnl::stream(engine), &team]() mutable {
    omp_set_num_threads(team.size());
    softmax.execute(stream, {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}});
    stream.wait();
  };
}

}  // namespace poolcast::kernels
