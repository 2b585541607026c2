/**
 * For a newer release it starts the update agent and exits, so that the agent can replace its
 * files.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { totalOf } from './checkout.mjs';
import { createClient } from './sdk/index.js';

const read = async (name) => JSON.parse(await readFile(new URL(name, import.meta.url), 'utf8'));
const { version, product } = await read('manifest.json');
const { aos } = await read('settings.json');
const client = createClient({
  server: aos.server,
  project: product,
  token: aos.token,
  licenseKey: aos.license_key,
  cacheDir: new URL('cache', import.meta.url).pathname,
});
client.installGlobalHandler({ app_version: version });
const mark = new URL('till.pid', import.meta.url);
await writeFile(mark, `${process.pid}\n`);

const ORDERS = [
  { number: 1001, lines: [{ price: 20, pieces: 2 }], coupon: { percent: 10 } },
  { number: 1002, lines: [{ price: 35, pieces: 1 }], coupon: null },
];
let added = 0;
const heartbeat = client.startHeartbeat({
  source: aos.source,
  app_version: version,
  interval: 2,
  metrics: () => ({ orders: added }),
});
const work = setInterval(() => {
  try {
    totalOf(ORDERS[added++ % ORDERS.length], added);
  } catch (error) {
    void client.captureException(error, { app_version: version, environment: 'shop floor' });
  }
}, 1_000);

async function update() {
  const { updateAvailable } = await client.checkForUpdate(version);
  if (!updateAvailable) return;
  clearInterval(look);
  clearInterval(work);
  await client.flush();
  const { launched } = await client.launchAgent({ path: process.env.SHOP_AGENT, dir: '.' });
  if (launched) process.exit(0);
}
const look = setInterval(() => void update(), 2_000);

async function end() {
  await heartbeat.stop();
  await rm(mark, { force: true });
  process.exit(0);
}
process.once('SIGTERM', () => void end());
