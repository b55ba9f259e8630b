// SPDX-License-Identifier: Apache-2.0
#include "scenarios/catalog_read.h"
#include "scenarios/load_parts.h"

namespace poolcast {
namespace {

const TransformerShape& find_shape(const YamlNode& node, const Catalog& catalog) {
  if (const auto* const known = catalog.model(node.text())) return known->shape;
  node.fail("the catalog has no model " + quote(node.text()), spelling_hint(node.text(), catalog.model_names()));
}

}  // namespace

TransformerShape load_shape(const YamlNode& node, const Catalog& catalog) {
  if (node.is_scalar()) return find_shape(node, catalog);
  MappingReader reader(node);
  TransformerShape shape;
  if (const auto base = reader.optional("base")) shape = find_shape(*base, catalog);
  if (const auto name = reader.optional("name")) shape.name = name->text();
  if (shape.name.empty()) shape.name = "inline shape";
  shape = read_transformer_shape(reader, shape);
  reader.finish();
  return shape;
}

}  // namespace poolcast
