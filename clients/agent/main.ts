#!/usr/bin/env node
/** The program `update-agent`. Bundled, it is the executable itself. */
import { isSea } from 'node:sea';
import { run } from './run.js';

const ownFile = isSea() ? process.execPath : (process.argv[1] ?? process.execPath);

async function main(): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), process.env, ownFile);
}

main().catch((error: unknown) => {
  process.stderr.write(`update-agent: ${String(error)}\n`);
  process.exitCode = 1;
});
