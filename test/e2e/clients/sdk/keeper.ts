/**
 * A process that keeps answers about a key of its own, one after the other: `keeper.js <folder>
 * <name> <count>`. Prints how many were gone when it looked again.
 */
import { AnswerCache } from '../../../../clients/sdk/cache.js';
import { FileStore } from '../../../../clients/sdk/node/files.js';

const [folder = '', name = '', count = '0'] = process.argv.slice(2);
const cache = new AnswerCache(new FileStore(folder), 'shop');
let lost = 0;
for (let n = 1; n <= Number(count); n++) {
  const at = new Date(n).toISOString();
  const answer = { license_status: 'active', checked_at: at, answered_at: at, cache_ttl_hours: 24 } as const;
  const rest = { expires_at: null, machine_id: 'm-1', answer: { n }, legacy: false };
  const seat = { grace_until: null, lease_expires_at: null };
  await cache.writeLicense({ ...answer, ...rest, ...seat, key_sha256: name }, { askedAt: n, highestSeen: n });
  // Another process may come between.
  await new Promise(setImmediate);
  if (cache.getLicense(name, 'm-1')?.answer?.['n'] !== n) lost++;
}
process.stdout.write(String(lost));
