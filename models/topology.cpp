// SPDX-License-Identifier: Apache-2.0
#include "models/topology.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <limits>
#include <utility>

namespace poolcast {
namespace {

constexpr double kTypicalTransfer = 64.0 * 1024 * 1024;  // bytes; a prompt of some hundred tokens

struct Way {
  double cost = 0;
  LinkWay way = 0;
};

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Way>;
using Edge = boost::graph_traits<Graph>::edge_descriptor;

Graph graph_of(std::size_t nodes, const std::vector<Link>& links) {
  Graph graph(nodes);
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    const double cost = link.latency.value + kTypicalTransfer / link.bandwidth.value;
    const auto way = static_cast<LinkWay>(2 * i);
    boost::add_edge(link.a, link.b, Way{cost, way}, graph);
    boost::add_edge(link.b, link.a, Way{cost, way + 1}, graph);
  }
  return graph;
}

/// Notes by which edge each node is reached best.
struct Reach : boost::base_visitor<Reach> {
  using event_filter = boost::on_edge_relaxed;
  explicit Reach(std::vector<Edge>& into) : by(&into) {}
  void operator()(const Edge& edge, const Graph& graph) const { (*by)[boost::target(edge, graph)] = edge; }
  std::vector<Edge>* by;
};

}  // namespace

std::uint32_t Topology::add_node(std::string name) {
  nodes_.push_back(std::move(name));
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

Path Topology::path(std::uint32_t from, std::uint32_t to) const {
  Path path;
  if (from == to) {
    path.exists = true;
    return path;
  }
  const Graph graph = graph_of(nodes_.size(), links_);
  std::vector<double> cost(nodes_.size());
  std::vector<Edge> by(nodes_.size());
  boost::dijkstra_shortest_paths(graph, from,
                                 boost::weight_map(boost::get(&Way::cost, graph))
                                     .distance_map(cost.data())
                                     .visitor(boost::make_dijkstra_visitor(Reach(by))));
  if (cost[to] == std::numeric_limits<double>::max()) return path;
  path.exists = true;
  for (std::uint32_t at = to; at != from; at = static_cast<std::uint32_t>(boost::source(by[at], graph))) {
    const LinkWay way = graph[by[at]].way;
    path.ways.push_back(way);
    path.latency += links_[way / 2].latency;
  }
  std::reverse(path.ways.begin(), path.ways.end());
  return path;
}

}  // namespace poolcast
