#!/usr/bin/env node
import { isSea } from 'node:sea';
import { runAgent } from './run.js';

const ownFile = isSea() ? process.execPath : (process.argv[1] ?? process.execPath);

/** Every started program would read them too (contract 90, whom it believes). */
function deleteNodeVariables(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) if (/^(NODE_|OPENSSL_|SSL_CERT_)/i.test(name)) delete env[name];
}

async function main(): Promise<void> {
  if (isSea()) deleteNodeVariables(process.env);
  process.exitCode = await runAgent(process.argv.slice(2), process.env, ownFile);
}

main().catch((error: unknown) => {
  process.stderr.write(`update-agent: ${String(error)}\n`);
  process.exitCode = 1;
});
