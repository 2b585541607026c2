/** Only check and statement are skipped (contract 90, defaults); the key must be pinned already. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MAX_MANIFEST_BYTES } from '../../../lib/formats/manifest.js';
import { parsePublicKey, type VerifyingKey } from '../../../lib/formats/signature.js';
import { getErrorCode, AgentFailure } from '../exit.js';
import { hashFile } from '../system/files.js';
import { verifySignature, importReleaseKey } from '../trust/keys.js';
import {
  checkNotOlder,
  checkStepReached,
  compareWithRequest,
  parseManifest,
  type VerifiedRelease,
} from '../trust/release-verification.js';
import type { Installation } from './installation.js';
import type { UpdateServiceClient } from './server.js';

const MAX_SIGNATURE_BYTES = 16 * 1024;
/** A PEM public key next to the package, for a machine that knows only its hash (`--pin`). */
const KEY_FILE = 'pubkey.pem';

export interface OfflineQuery {
  product: string;
  channel: string;
  platform: string;
  version: string | null;
}

/**
 * @param server source of the key; null to use only the file next to the package
 * @returns null when this release is already installed
 */
export async function readOfflineRelease(
  installation: Installation,
  archive: string,
  question: OfflineQuery,
  server: UpdateServiceClient | null,
): Promise<VerifiedRelease | null> {
  const { agent } = installation;
  const { allowUnsigned, requireSigned } = agent.options;
  const key = await loadPinnedKey(installation, dirname(archive), server);
  const bytes = await readContent(join(dirname(archive), 'manifest.json'), MAX_MANIFEST_BYTES);
  if (bytes === null) throw new AgentFailure('usage', `${dirname(archive)} has no manifest.json next to the package`);
  const signature =
    (await readContent(join(dirname(archive), 'manifest.sig'), MAX_SIGNATURE_BYTES))?.toString('utf8').trim() ?? null;
  const state = installation.state.current;
  const required = requireSigned || state.require_signed;
  const warning = verifySignature(bytes, signature, { key, pinned: true, required, allowUnsigned });
  if (warning !== null) agent.output.warn(warning);
  agent.output.warn('the package comes from a file; whether it is the newest version was not checked');
  const manifest = parseManifest(bytes);
  const { product, channel, version } = question;
  const platform = manifest.platform === 'any' ? 'any' : question.platform;
  const { size } = await stat(archive);
  const packageSha256 = await hashFile(archive, agent.signal);
  compareWithRequest(manifest, {
    product,
    channel,
    platform,
    version: manifest.version,
    packageSha256,
    packageSize: size,
  });
  if ((await readContent(installation.layout.manifest, MAX_MANIFEST_BYTES))?.equals(bytes) === true) return null;
  checkNotOlder(manifest.version, { installed: version, highest: state.highest_version }, () => false);
  checkStepReached(manifest, version);
  return { manifest, bytes };
}

/** A manual pin is only a hash: the key itself is next to the package or on the server. */
async function loadPinnedKey(
  installation: Installation,
  folder: string,
  server: UpdateServiceClient | null,
): Promise<VerifyingKey | null> {
  const { pin, allowUnsigned } = installation.agent.options;
  const state = installation.state.current;
  const wanted = pin ?? state.pin?.sha256 ?? null;
  if (wanted === null)
    throw new AgentFailure('usage', '--package requires a pinned key; pass --pin with the SHA-256 of the server’s key');
  if (state.pin?.spki && state.pin.sha256 === wanted) return parsePublicKey(toPem(state.pin.spki));
  const keyFileContent = await readContent(join(folder, KEY_FILE), MAX_SIGNATURE_BYTES);
  const key =
    keyFileContent === null
      ? ((await server?.fetchPublicKey())?.key ?? null)
      : importReleaseKey(keyFileContent.toString('utf8'));
  if (key === null) {
    if (allowUnsigned) return null;
    throw new AgentFailure(
      'unverified',
      `the key of --pin was not found; place it next to the package as ${KEY_FILE}, or pass --server`,
    );
  }
  if (key.spkiSha256 !== wanted)
    throw new AgentFailure('unverified', `the key ${key.keyId} does not match the pinned key`);
  const former_keys = state.former_keys.filter((hash) => hash !== wanted);
  const highest_version = state.pin === null ? state.highest_version : (installation.manifest?.version ?? null);
  await installation.save({
    ...state,
    pin: { sha256: wanted, spki: key.spki.toString('base64') },
    former_keys,
    highest_version,
  });
  return key;
}

const toPem = (spki: string): string =>
  `-----BEGIN PUBLIC KEY-----\n${spki.replace(/(.{64})/g, '$1\n')}\n-----END PUBLIC KEY-----\n`;

async function readContent(path: string, most: number): Promise<Buffer | null> {
  try {
    const { size } = await stat(path);
    if (size > most) throw new AgentFailure('unverified', `${path} is longer than ${most} bytes`);
    return await readFile(path);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
