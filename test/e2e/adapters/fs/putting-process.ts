/**
 * Puts packages into one place, again and again, until it is killed; says each step on stdout.
 * Started by killed.test.ts.
 */
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { FsReleaseStore } from '../../../../adapters/fs/release-store.js';

const [root = ''] = process.argv.slice(2);
const say = (text: string): void => void writeSync(1, `${text}\n`);
const store = new FsReleaseStore(root);
const place = { product: 'shop', channel: 'stable', version: '1.0', platform: 'any' };

for (let n = 1; ; n++) {
  const bytes = Buffer.alloc(300_000, `package ${n} `);
  say(`stage ${n}`);
  const pieces = (async function* () {
    for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
  })();
  const { id } = await store.packages.stage(pieces, { bytes: 1 << 20, keepFree: 0 });
  say(`staged ${n}`);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await store.packages.put(id, place, { manifest: JSON.stringify({ n, sha256 }), signature: `signature ${n}` });
  say(`put ${n}`);
}
