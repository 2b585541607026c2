/**
 * Injects a blob into an executable. A separate process, because postject never releases the
 * hundreds of megabytes that it uses.
 *
 * node scripts/agent/inject.mjs EXECUTABLE BLOB FUSE
 */
import { readFile } from 'node:fs/promises';
import { inject } from 'postject';

const [executable, blob, sentinelFuse] = process.argv.slice(2);
await inject(executable, 'NODE_SEA_BLOB', await readFile(blob), { sentinelFuse });
