/**
 * Prepares Node's binary for the agent's code. A separate process, because it holds the file more
 * than once.
 *
 * node scripts/agent/prepare.mjs RUNTIME SOURCE TARGET
 */
import { readFile, writeFile } from 'node:fs/promises';
import { withoutSignature, withoutSymbols } from './slim.mjs';
import { withoutVariables } from './variables.mjs';

const [runtime, source, target] = process.argv.slice(2);
const bare = runtime.startsWith('win-') ? withoutSignature : withoutSymbols;
await writeFile(target, withoutVariables(bare(await readFile(source))));
