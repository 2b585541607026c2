#!/usr/bin/env node
/** The program `update-agent`. Bundled, it is the executable itself. */
import { isSea } from 'node:sea';
import { run } from './run.js';

const ownFile = isSea() ? process.execPath : (process.argv[1] ?? process.execPath);

/**
 * Node reads more of them while it runs, and so would every program that is started (contract 90, whom it believes).
 */
function forgetVariables(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) if (/^(NODE_|OPENSSL_|SSL_CERT_)/i.test(name)) delete env[name];
}

async function main(): Promise<void> {
  if (isSea()) forgetVariables(process.env);
  process.exitCode = await run(process.argv.slice(2), process.env, ownFile);
}

main().catch((error: unknown) => {
  process.stderr.write(`update-agent: ${String(error)}\n`);
  process.exitCode = 1;
});
