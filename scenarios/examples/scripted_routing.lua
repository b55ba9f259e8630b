-- One number for each endpoint, higher is better.
local long = 4000  -- tokens

function score(request, endpoint, pool)
  if request.prompt_tokens > long then
    return 1 - endpoint.kv_usage
  end
  return 1 / (1 + endpoint.waiting + endpoint.running / 64)
end
