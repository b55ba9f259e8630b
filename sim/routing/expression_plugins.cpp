// SPDX-License-Identifier: Apache-2.0
// poolcast's own plugins for rules that no other plugin has: one total expression (sim/routing/expression.h).
#include <cmath>

#include "sim/routing/expression.h"
#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

Expression compiled(const Settings& settings) {
  const std::string& text = settings.text("expression");
  if (text.empty()) throw ParameterFault({}, "needs an expression");
  try {
    return Expression(text);
  } catch (const ExpressionFault& fault) {
    throw ParameterFault({"expression"}, std::string(fault.what()) + " at character " + std::to_string(fault.column),
                         fault.allowed);
  }
}

class ExpressionFilter : public Plugin, public Filter {
 public:
  explicit ExpressionFilter(const Settings& settings) : expression_(compiled(settings)) {}

  void filter(const RequestView& request, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) override {
    values_.resize(kept.size());
    expression_.evaluate(request, endpoints, kept, values_);
    std::size_t left = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (values_[i] == values_[i] && values_[i] != 0) kept[left++] = kept[i];
    }
    kept.resize(left);
  }

 private:
  Expression expression_;
  std::vector<double> values_;
};

class ExpressionScorer : public Plugin, public Scorer {
 public:
  explicit ExpressionScorer(const Settings& settings) : expression_(compiled(settings)) {}

  void score(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
             std::span<double> scores) override {
    expression_.evaluate(request, endpoints, candidates, scores);
    for (double& score : scores) score = std::isnan(score) ? 0 : score;
  }

 private:
  Expression expression_;
};

}  // namespace

void add_expressions(std::vector<PluginInfo>& table) {
  const std::vector<ParameterInfo> parameters = {
      {"expression", ParameterKind::kText, "", "", "over request.*, endpoint.*, pool.*, model.*"}};
  table.push_back({"expr-filter", "filter", "poolcast",
                   "keep the endpoints for which the expression is true; not those for which it has no value",
                   parameters, make_of_settings<ExpressionFilter>});
  table.push_back({"expr-scorer", "scorer", "poolcast",
                   "the value of the expression, clamped to [0, 1] as every score is; 0 where it has none", parameters,
                   make_of_settings<ExpressionScorer>});
}

}  // namespace poolcast::routing
