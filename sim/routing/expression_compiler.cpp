// SPDX-License-Identifier: Apache-2.0
// From text to the steps of an Expression: a parser by recursive descent that writes them as it goes.
#include <algorithm>
#include <charconv>
#include <utility>

#include "sim/routing/expression.h"
#include "sim/routing/expression_fields.h"

namespace poolcast::routing {

class ExpressionCompiler {
 public:
  ExpressionCompiler(std::string_view text, Expression& out) : text_(text), out_(out) {}

  void compile() {
    choice();
    skip_blanks();
    if (at_ < text_.size()) fail("expected an operator");
  }

 private:
  using Op = Expression::Op;
  static constexpr std::size_t kMostSteps = 1000;
  static constexpr int kDeepest = 100;

  [[noreturn]] void fail(const std::string& message) const { throw ExpressionFault(at_ + 1, message); }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail("expected \"" + std::string(token) + "\"");
  }

  void emit(Expression::Step step, int columns) {
    if (out_.steps_.size() == kMostSteps) fail("the expression is too long");
    out_.steps_.push_back(step);
    columns_ += columns;
    out_.depth_ = std::max(out_.depth_, static_cast<std::size_t>(columns_));
  }
  void push(Op op, std::size_t field = 0, double constant = 0) {
    emit({op, static_cast<std::uint16_t>(field), constant}, 1);
  }
  void combine(Op op) { emit({op}, -1); }

  void choice() {
    if (++nesting_ > kDeepest) fail("the expression is nested too deep");
    either();
    if (take("?")) {
      choice();
      expect(":");
      choice();
      emit({Op::kSelect}, -2);
    }
    --nesting_;
  }
  void either() {
    for (both(); take("||"); combine(Op::kOr)) both();
  }
  void both() {
    for (comparison(); take("&&"); combine(Op::kAnd)) comparison();
  }
  void comparison() {
    sum();
    // a >= b is !(a < b): where a side has no value, neither has one.
    static constexpr std::pair<std::string_view, Op> kOps[] = {
        {"==", Op::kEqual}, {"!=", Op::kUnequal}, {"<=", Op::kLessEqual}, {"<", Op::kLess}};
    for (const auto& [token, op] : kOps) {
      if (!take(token)) continue;
      sum();
      return combine(op);
    }
    const bool at_least = take(">=");
    if (!at_least && !take(">")) return;
    sum();
    combine(at_least ? Op::kLess : Op::kLessEqual);
    emit({Op::kNot}, 0);
  }
  void sum() {
    product();
    while (true) {
      if (take("+")) {
        product();
        combine(Op::kAdd);
      } else if (take("-")) {
        product();
        combine(Op::kSubtract);
      } else {
        return;
      }
    }
  }
  void product() {
    sign();
    static constexpr std::pair<std::string_view, Op> kOps[] = {
        {"*", Op::kMultiply}, {"/", Op::kDivide}, {"%", Op::kRemainder}};
    for (bool more = true; more;) {
      more = false;
      for (const auto& [token, op] : kOps) {
        if (!take(token)) continue;
        sign();
        combine(op);
        more = true;
      }
    }
  }
  void sign() {
    if (++nesting_ > kDeepest) fail("the expression is nested too deep");
    skip_blanks();
    const bool unequal = text_.substr(at_).starts_with("!=");
    if (take("-")) {
      sign();
      emit({Op::kNegate}, 0);
    } else if (!unequal && take("!")) {
      sign();
      emit({Op::kNot}, 0);
    } else {
      primary();
    }
    --nesting_;
  }
  void primary() {
    if (take("(")) {
      choice();
      return expect(")");
    }
    skip_blanks();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if ((c >= '0' && c <= '9') || c == '.') return number();
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return word();
    fail(c == '\0' ? "the expression ends too early" : "expected a value");
  }
  void number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("expected a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    push(Op::kConstant, 0, value);
  }
  std::string_view read_word() {
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           ((text_[at_] >= 'a' && text_[at_] <= 'z') || (text_[at_] >= 'A' && text_[at_] <= 'Z') ||
            (text_[at_] >= '0' && text_[at_] <= '9') || text_[at_] == '_' || text_[at_] == '.')) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }
  void word() {
    const std::size_t start = at_;
    const std::string_view name = read_word();
    if (name == "true" || name == "false") return push(Op::kConstant, 0, name == "true" ? 1 : 0);
    if (take("(")) return call(name, start);
    if (!variable(name)) {
      throw ExpressionFault(start + 1, "unknown name \"" + std::string(name) + "\"", Expression::names());
    }
  }
  bool variable(std::string_view name) {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return false;
    const std::string_view owner = name.substr(0, dot), field = name.substr(dot + 1);
    if (owner == "request") return push_field(request_fields(), Op::kRequest, field);
    if (owner == "model") return push_field(model_fields(), Op::kModel, field);
    if (owner == "endpoint") return push_field(endpoint_fields(), Op::kEndpoint, field);
    if (owner != "pool") return false;
    if (field == "size") {
      push(Op::kSize);
      return true;
    }
    using Over = Expression::Over;
    static constexpr std::pair<std::string_view, Over> kFolds[] = {
        {"min_", Over::kLeast}, {"max_", Over::kMost}, {"mean_", Over::kMean}, {"sum_", Over::kSum}};
    for (const auto& [prefix, over] : kFolds) {
      if (field.starts_with(prefix)) return push_fold(over, field.substr(prefix.size()));
    }
    return false;
  }
  bool push_fold(Expression::Over over, std::string_view name) {
    const auto& fields = endpoint_fields();
    const auto place =
        std::find_if(fields.begin(), fields.end(), [&](const EndpointField& f) { return f.name == name; });
    if (place == fields.end()) return false;
    const auto field = static_cast<std::uint16_t>(place - fields.begin());
    auto& folds = out_.folds_;
    const auto same = std::find_if(folds.begin(), folds.end(),
                                   [&](const Expression::Fold& f) { return f.over == over && f.field == field; });
    const auto index = static_cast<std::size_t>(same - folds.begin());
    if (same == folds.end()) folds.push_back({over, field, 0});
    push(Op::kFold, index);
    return true;
  }
  template <class Field>
  bool push_field(const std::vector<Field>& fields, Op op, std::string_view name) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].name != name) continue;
      push(op, i);
      return true;
    }
    return false;
  }
  /// After the opening bracket.
  void call(std::string_view name, std::size_t start) {
    int count = 0;
    if (name == "min" || name == "max") {
      do {
        choice();
        if (++count > 1) combine(name == "min" ? Op::kMin : Op::kMax);
      } while (take(","));
    } else if (name == "clamp") {
      for (const Op op : {Op::kConstant, Op::kMax, Op::kMin}) {
        if (op != Op::kConstant) expect(",");
        choice();
        if (op != Op::kConstant) combine(op);
      }
    } else if (name == "abs" || name == "floor") {
      choice();
      emit({name == "abs" ? Op::kAbs : Op::kFloor}, 0);
    } else {
      throw ExpressionFault(start + 1, "unknown function \"" + std::string(name) + "\"",
                            {"abs", "clamp", "floor", "max", "min"});
    }
    expect(")");
  }

  std::string_view text_;
  Expression& out_;
  std::size_t at_ = 0;
  int columns_ = 0;
  int nesting_ = 0;
};

Expression::Expression(std::string_view text) { ExpressionCompiler(text, *this).compile(); }

std::vector<std::string> Expression::names() {
  std::vector<std::string> all;
  for (const EndpointField& field : endpoint_fields()) {
    all.push_back("endpoint." + std::string(field.name));
    for (const char* fold : {"pool.max_", "pool.mean_", "pool.min_", "pool.sum_"}) {
      all.push_back(fold + std::string(field.name));
    }
  }
  all.emplace_back("pool.size");
  for (const RequestField& field : request_fields()) all.push_back("request." + std::string(field.name));
  for (const RequestField& field : model_fields()) all.push_back("model." + std::string(field.name));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace poolcast::routing
