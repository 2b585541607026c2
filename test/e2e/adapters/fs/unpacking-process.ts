/**
 * Publishes and withdraws releases whose files are unpacked, until it is killed; prints each
 * version. Started by unpacking-runs.ts.
 */
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { ThreadPackageReader } from '../../../../adapters/fs/package-reader.js';
import { FsReleaseStore } from '../../../../adapters/fs/release-store.js';
import { GridFsReleaseStore } from '../../../../adapters/mongodb/gridfs/release-store.js';
import { buildPackage, splitChunks } from '../../../kit/contracts/release-store.js';

const [target = ''] = process.argv.slice(2);
const store = target.startsWith('mongodb:')
  ? new GridFsReleaseStore({ url: target, unpackFiles: true }, new ThreadPackageReader())
  : new FsReleaseStore(target, undefined, undefined, { enabled: true });
await store.access.write('shop', '.htpasswd', '# aos-access format=3 product=shop\n');
for (let n = 1; ; n++) {
  const contents = Array.from({ length: 20 }, (_, at) => `${at} ${at % 5 === 0 ? n : ''} `.repeat(2_000));
  const files = Object.fromEntries(contents.map((content, at) => [`f${at}`, content]));
  const place = { product: 'shop', channel: 'stable', version: `1.${n}`, platform: 'any' };
  const listed = contents.map((content, at) => ({
    path: `f${at}`,
    size: Buffer.byteLength(content),
    sha256: createHash('sha256').update(content).digest('hex'),
  }));
  const { id } = await store.packages.stage(splitChunks(buildPackage(files)), { bytes: 1 << 24, keepFree: 0 });
  writeSync(1, `put ${n}\n`);
  await store.packages.put(id, place, { manifest: JSON.stringify({ files: listed }), signature: null });
  await store.packages.updateFiles(place);
  writeSync(1, `withdraw ${n}\n`);
  if (n % 3 === 0) await store.packages.withdraw({ ...place, version: `1.${n - 1}` });
  await store.packages.sweep();
}
