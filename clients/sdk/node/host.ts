import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { followKeyChain } from '../key-chain.js';
import { verifyLicenseAnswer, verifyLicenseFile } from '../../../lib/formats/license-file.js';
import { detectMachinePlatform } from '../../../lib/formats/machine.js';
import { isSignedBy, tryParsePublicKey } from '../../../lib/formats/signature.js';
import type { ClientHost } from '../host.js';
import { runAtExit } from './exit-handler.js';
import { FileStore } from './files.js';
import { watchUncaught } from './global-handler.js';
import { sendRequest } from './http.js';
import { identifyMachine } from './machine.js';
import { ProcessMetrics } from './process-metrics.js';

export const createNodeHost = (cacheDir: string): ClientHost => ({
  exchange: sendRequest,
  kept: new FileStore(cacheDir),
  queued: new FileStore(join(cacheDir, 'aos-errors')),
  platform: detectMachinePlatform(),
  identifyMachine: (project) => identifyMachine(project, cacheDir),
  computeSha256: (text) => Promise.resolve(createHash('sha256').update(text).digest('hex')),
  verifyAnswer: (answer, pems, question) => Promise.resolve(verifyLicenseAnswer(answer, pems, question)),
  verifyLicenseFile: (text, pems, checks) => Promise.resolve(verifyLicenseFile(text, pems, checks)),
  resolveFollowingKeys: (pinned, chain) =>
    followKeyChain(pinned, chain, {
      read: (pem) => Promise.resolve(tryParsePublicKey(pem)),
      isSigned: (by, bytes, signature) => Promise.resolve(isSignedBy(by, bytes, signature)),
    }),
  readText: (path) => readFile(path, 'utf8').catch(() => null),
  show: (value) => inspect(value, { depth: 2, maxStringLength: 1_000 }),
  watchUncaught,
  runAtExit,
  createProcessMetrics: () => new ProcessMetrics(),
});

export function getDefaultCacheDir(project: string): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const base =
    process.platform === 'win32'
      ? (LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'))
      : (XDG_CACHE_HOME ?? join(homedir(), '.cache'));
  return join(base, 'aos', project);
}
