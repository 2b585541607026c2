/**
 * Puts a blob into an executable. Its own process: postject takes hundreds of megabytes for that and gives none of it
 * back.
 *
 *   node scripts/agent/inject.mjs EXECUTABLE BLOB FUSE
 */
import { readFile } from 'node:fs/promises';
import { inject } from 'postject';

const [executable, blob, sentinelFuse] = process.argv.slice(2);
await inject(executable, 'NODE_SEA_BLOB', await readFile(blob), { sentinelFuse });
