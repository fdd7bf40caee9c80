// Lua scripts that Redis executes atomically: acquire, renew and release leases, publish results.
//
// Keys of a run, besides its plan:
//
//   results       hash: task position -> result. Written once.
//   claims        hash: task position -> its last lease, "<fencing token>-<owner>"
//   lock:<script> that lease, with an expiry that its machine renews
//
// Invariants:
// - Every script is idempotent: it may be sent again after a lost response.
// - After a restart without data, Redis accepts a machine's lease as the last one unless another machine holds the
//   task.
// - Expiry uses the server's clock.
//
// KEYS of all scripts except JOIN: results, claims, prefix of locks, pub/sub channel.

/**
 * ARGV: owner, lease time (ms), time to live of the run (s), positions. Returns the first free lease, a result, or
 * the time to wait (ms).
 */
export const ACQUIRE_LEASE = `
local least = -1
for at = 4, #ARGV do
  local script = ARGV[at]
  local result = redis.call('HGET', KEYS[1], script)
  if result then return {'result', script, result} end
end
for at = 4, #ARGV do
  local script = ARGV[at]
  local lock = KEYS[3] .. script
  local last = redis.call('HGET', KEYS[2], script) or '0'
  local holder = redis.call('GET', lock)
  if holder and string.match(holder, '-(.*)$') == ARGV[1] then return {'claimed', script, holder} end
  local claim = string.format('%d-%s', tonumber(string.match(last, '^%d+')) + 1, ARGV[1])
  if redis.call('SET', lock, claim, 'NX', 'PX', ARGV[2]) then
    redis.call('HSET', KEYS[2], script, claim)
    redis.call('EXPIRE', KEYS[1], ARGV[3])
    redis.call('EXPIRE', KEYS[2], ARGV[3])
    return {'claimed', script, claim}
  end
  local left = redis.call('PTTL', lock)
  if least < 0 or left < least then least = left end
end
return {'held', tostring(least)}
`;

const HOLDS = `
local function holds(script, claim)
  local holder = redis.call('GET', KEYS[3] .. script)
  if holder then return holder == claim end
  local last = redis.call('HGET', KEYS[2], script)
  return not last or last == claim
end
`;

/** ARGV: lease time (ms), time to live of the run (s), pairs of position and lease. Returns the lost positions. */
export const RENEW_LEASES = `${HOLDS}
local lost = {}
for at = 3, #ARGV, 2 do
  local script, claim = ARGV[at], ARGV[at + 1]
  if redis.call('HEXISTS', KEYS[1], script) == 0 and holds(script, claim) then
    redis.call('SET', KEYS[3] .. script, claim, 'PX', ARGV[1])
    redis.call('HSET', KEYS[2], script, claim)
    redis.call('EXPIRE', KEYS[2], ARGV[2])
  else
    lost[#lost + 1] = script
  end
end
return lost
`;

/** ARGV: position, lease, result, time to live of the run (s). Returns 1 if this is the published result. */
export const PUBLISH = `${HOLDS}
local script, claim, result = ARGV[1], ARGV[2], ARGV[3]
local known = redis.call('HGET', KEYS[1], script)
if known then return known == result and 1 or 0 end
if not holds(script, claim) then return 0 end
redis.call('HSET', KEYS[1], script, result)
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('DEL', KEYS[3] .. script)
redis.call('PUBLISH', KEYS[4], script .. ' ' .. result)
return 1
`;

/** ARGV: pairs of position and lease. */
export const RELEASE = `
for at = 1, #ARGV, 2 do
  local lock = KEYS[3] .. ARGV[at]
  if redis.call('GET', lock) == ARGV[at + 1] then
    redis.call('DEL', lock)
    redis.call('PUBLISH', KEYS[4], 'free')
  end
end
return 1
`;

/**
 * KEYS: plan, results. ARGV: hash of the plan, time to live of the run (s). Returns the plan of the other machines
 * and all results.
 */
export const JOIN = `
redis.call('SET', KEYS[1], ARGV[1], 'NX')
redis.call('EXPIRE', KEYS[1], ARGV[2])
return {redis.call('GET', KEYS[1]), redis.call('HGETALL', KEYS[2])}
`;
