/**
 * Finds an installable release on the server (contract 90, update and "Freshness"), and verifies
 * its signature and manifest against the request.
 */
import type { FreshnessStatement } from '../../../lib/formats/freshness.js';
import { compareVersions } from '../../../lib/versions.js';
import { AgentFailure } from '../exit.js';
import { selectKey, verifySignature } from '../trust/keys.js';
import {
  checkNotOlder,
  checkStepReached,
  compareWithRequest,
  createRollbackCheck,
  verifyFreshness,
  parseManifest,
  hashBytes,
  type VerifiedRelease,
  type SignedStatement,
} from '../trust/release-verification.js';
import type { VerifyingKey } from '../../../lib/formats/signature.js';
import type { Installation } from './installation.js';
import type { UpdateCheckResult, ManifestPlace, OfferedRelease, UpdateQuery, UpdateServiceClient } from './server.js';

export interface FoundRelease {
  release: VerifiedRelease;
  offered: OfferedRelease;
  more: boolean;
}

/**
 * @param fresh nothing is installed: the newest is taken (contract 40, latest)
 * @param readManifest reads a manifest that the response only references, with verified SHA-256
 * @returns null when up to date
 */
export async function findRelease(
  installation: Installation,
  server: UpdateServiceClient,
  { question, fresh }: { question: UpdateQuery; fresh: boolean },
  readManifest: (place: ManifestPlace) => Promise<Buffer>,
): Promise<FoundRelease | null> {
  const { agent } = installation;
  let key = await fetchCurrentKey(installation, server, question);
  const answer = await server.check(question);
  const outOfReach = fresh && answer.offered === null && answer.latestVersion !== null;
  const offered = outOfReach ? await server.fetchLatest(question) : answer.offered;
  if (offered?.keyId && key !== null && offered.keyId !== key.keyId)
    // The key may have been rotated between the two requests.
    key = await fetchCurrentKey(installation, server, question);
  const required = await saveRequireSigned(installation, answer);
  if (answer.currentWithdrawn) agent.output.warn(`the installed ${question.version} was withdrawn`);
  const manifestOrPlace = offered?.manifest ?? null;
  const bytes =
    manifestOrPlace === null || Buffer.isBuffer(manifestOrPlace)
      ? manifestOrPlace
      : await readManifest(manifestOrPlace);
  const facts = { key, required, offered, bytes, newestWanted: outOfReach };
  const statement = await checkFreshness(installation, server, question, facts);
  if (offered === null || bytes === null) return null;
  const { version } = offered;
  const installed = fresh ? null : question.version;
  const permits = createRollbackCheck(statement, question.platform, { version, manifestSha256: hashBytes(bytes) });
  checkNotOlder(version, { installed, highest: installation.state.current.highest_version }, permits);
  const state = installation.state.current;
  const { allowUnsigned } = agent.options;
  const warning = verifySignature(bytes, offered.signature, {
    key,
    pinned: state.pin !== null,
    required,
    allowUnsigned,
  });
  if (warning !== null) agent.output.warn(warning);
  const manifest = parseManifest(bytes);
  compareWithRequest(manifest, { ...question, ...offered });
  checkStepReached(manifest, installed);
  const { highest_version: highest } = state;
  // If the update fails, the next start raises it again to the installed version.
  if (highest !== null && compareVersions(version, highest) < 0)
    await installation.save({ ...state, highest_version: version });
  const more = answer.latestVersion !== null && compareVersions(answer.latestVersion, manifest.version) > 0;
  return { release: { manifest, bytes }, offered, more };
}

async function fetchCurrentKey(
  installation: Installation,
  server: UpdateServiceClient,
  { version }: UpdateQuery,
): Promise<VerifyingKey | null> {
  const { pin, allowUnsigned } = installation.agent.options;
  const rules = { state: installation.state.current, pin, allowUnsigned, installed: version };
  const { key, state } = selectKey(await server.fetchPublicKey(), rules);
  await installation.save(state);
  return key;
}

async function saveRequireSigned(installation: Installation, answer: UpdateCheckResult): Promise<boolean> {
  const state = installation.state.current;
  const seen = state.require_signed || answer.requireSigned;
  await installation.save({ ...state, require_signed: seen });
  return seen || installation.agent.options.requireSigned;
}

interface FreshnessFacts {
  key: VerifyingKey | null;
  required: boolean;
  offered: OfferedRelease | null;
  bytes: Buffer | null;
  newestWanted: boolean;
}

async function checkFreshness(
  installation: Installation,
  server: UpdateServiceClient,
  question: UpdateQuery,
  facts: FreshnessFacts,
): Promise<FreshnessStatement | null> {
  const { output, options } = installation.agent;
  const { product, channel, platform, version } = question;
  const { key, required, offered, bytes, newestWanted } = facts;
  const state = installation.state.current;
  const freshnessResult = verifyFreshness({
    signed: await fetchStatement(server, question, required),
    key,
    product,
    channel,
    platform,
    current: version,
    offered: offered === null || bytes === null ? null : { version: offered.version, manifestSha256: hashBytes(bytes) },
    newestWanted,
    newestSeen: state.statements[channel] ?? null,
    now: Date.now(),
  });
  if ('statement' in freshnessResult) {
    await installation.save({
      ...state,
      statements: { ...state.statements, [channel]: freshnessResult.statement.issued_at },
      unsigned_said: null,
    });
    return freshnessResult.statement;
  }
  // An unsigned server has no statements: the option that allows its releases also allows missing
  // statements.
  if (required && !(freshnessResult.missing && options.allowUnsigned))
    throw new AgentFailure('unverified', freshnessResult.why);
  // A server without a key was reported before; what is installed is reported in any case.
  const unsignedWarning = key === null ? freshnessResult.why : null;
  if (unsignedWarning === null || offered !== null || state.unsigned_said !== unsignedWarning)
    output.warn(freshnessResult.why);
  await installation.save({ ...state, unsigned_said: unsignedWarning });
  return null;
}

/** Where statements are not required, an unreachable one counts as missing: a warning. */
async function fetchStatement(
  server: UpdateServiceClient,
  { product, channel }: UpdateQuery,
  required: boolean,
): Promise<SignedStatement | null> {
  try {
    return await server.fetchFreshness(product, channel);
  } catch (error) {
    if (required || !(error instanceof AgentFailure) || error.outcome === 'cancelled') throw error;
    return null;
  }
}
