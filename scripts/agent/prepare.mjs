/**
 * Node's binary as the agent's code is put into it. Its own process: it holds the whole file, more than once.
 *
 *   node scripts/agent/prepare.mjs RUNTIME SOURCE TARGET
 */
import { readFile, writeFile } from 'node:fs/promises';
import { withoutSignature, withoutSymbols } from './slim.mjs';
import { withoutVariables } from './variables.mjs';

const [runtime, source, target] = process.argv.slice(2);
const bare = runtime.startsWith('win-') ? withoutSignature : withoutSymbols;
await writeFile(target, withoutVariables(bare(await readFile(source))));
