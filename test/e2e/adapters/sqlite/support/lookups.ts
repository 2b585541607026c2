/**
 * A process that declares look-ups over the documents that are there, and says so once they are; then it runs until it is
 * killed. `node lookups.js <path>`
 */
import { writeSync } from 'node:fs';
import { SqliteStore } from '../../../../../adapters/sqlite/store.js';

const [path = ''] = process.argv.slice(2);
const store = new SqliteStore({ path });
await store.connect();
await store.ensure([{ name: 'rows', indexes: [{ fields: ['at'] }], lookups: [{ path: 'text', by: 'text' }] }]);
writeSync(1, 'declared\n');
setInterval(() => undefined, 1_000);
