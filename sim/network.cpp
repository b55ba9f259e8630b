// SPDX-License-Identifier: Apache-2.0
#include "sim/network.h"

#include <algorithm>
#include <limits>

namespace poolcast {

void Network::start(std::uint64_t id, const Path& path, double bytes, SimTime now) {
  ++transfers_;
  bytes_ += bytes;
  advance(now);
  const SimTime latency = to_sim_time(path.latency);
  if (path.ways.empty()) {
    landings_.push_back({now + latency, id});
    return;
  }
  Flow flow;
  flow.id = id;
  flow.ways = path.ways;
  flow.left = bytes;
  flow.latency = latency;
  flows_.push_back(std::move(flow));
  share();
}

bool Network::cancel(std::uint64_t id, SimTime now) {
  advance(now);
  const std::size_t flows = std::erase_if(flows_, [id](const Flow& f) { return f.id == id; });
  const std::size_t landings = std::erase_if(landings_, [id](const Landing& l) { return l.id == id; });
  share();
  return flows + landings > 0;
}

SimTime Network::next() const {
  SimTime next = kNever;
  for (const Flow& f : flows_) next = std::min(next, f.sent);
  for (const Landing& l : landings_) next = std::min(next, l.at);
  return next;
}

const std::vector<std::uint64_t>& Network::arrived(SimTime now) {
  advance(now);
  std::stable_sort(landings_.begin(), landings_.end(), [](const Landing& a, const Landing& b) { return a.at < b.at; });
  arrived_.clear();
  std::size_t n = 0;
  for (; n < landings_.size() && landings_[n].at <= now; ++n) arrived_.push_back(landings_[n].id);
  landings_.erase(landings_.begin(), landings_.begin() + static_cast<std::ptrdiff_t>(n));
  return arrived_;
}

/// Brings every flow up to `now`; those that have sent all land later, and the others share anew.
void Network::advance(SimTime now) {
  const double seconds = to_seconds(now - at_).value;
  at_ = now;
  bool done = false;
  for (Flow& f : flows_) {
    f.left -= f.rate * seconds;
    if (f.sent > now) continue;
    landings_.push_back({f.sent + f.latency, f.id});
    done = true;
  }
  if (!done) return;
  std::erase_if(flows_, [now](const Flow& f) { return f.sent <= now; });
  share();
}

/// Progressive filling: the link that gives its flows least fixes their rates, then the next one.
void Network::share() {
  std::vector<double> room(2 * links_.size());
  std::vector<int> users(room.size());
  for (std::size_t w = 0; w < room.size(); ++w) room[w] = links_[w / 2].bandwidth.value;
  for (Flow& f : flows_) {
    f.rate = 0;
    for (const LinkWay w : f.ways) ++users[w];
  }
  for (std::size_t fixed = 0; fixed < flows_.size();) {
    std::size_t tightest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t w = 0; w < room.size(); ++w) {
      if (users[w] > 0 && room[w] / users[w] < least) {
        least = room[w] / users[w];
        tightest = w;
      }
    }
    least = std::max(least, 1.0);  // rounding must not stop anybody for ever
    for (Flow& f : flows_) {
      if (f.rate > 0 || std::find(f.ways.begin(), f.ways.end(), tightest) == f.ways.end()) continue;
      f.rate = least;
      ++fixed;
      for (const LinkWay w : f.ways) {
        room[w] = std::max(0.0, room[w] - least);
        --users[w];
      }
    }
  }
  for (Flow& f : flows_) f.sent = at_ + std::max<SimTime>(1, to_sim_time(Seconds(std::max(0.0, f.left) / f.rate)));
}

}  // namespace poolcast
