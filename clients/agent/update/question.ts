/**
 * Finds an installable release on the server (contract 90, update and "Freshness"), and verifies
 * its signature and manifest against the request.
 */
import { compareVersions } from '../../../lib/versions.js';
import { AgentFailure } from '../exit.js';
import { decideKey, judgeSignature } from '../trust/keys.js';
import {
  checkNotOlder,
  compareWithAsked,
  judgeFreshness,
  manifestOf,
  sha256Of,
  type VerifiedRelease,
  type SignedStatement,
} from '../trust/verified.js';
import type { VerifyingKey } from '../../../lib/formats/signature.js';
import type { Installation } from './installation.js';
import type { CheckAnswer, ManifestPlace, Offered, UpdateQuestion, UpdateServer } from './server.js';

export interface FoundRelease {
  release: VerifiedRelease;
  offered: Offered;
  more: boolean;
}

/**
 * @param fresh nothing is installed: when check offers none, because each release requires a step,
 *   the newest is taken (contract 40, latest)
 * @param readManifest reads a manifest that the response only references, with verified SHA-256
 * @returns null when up to date
 */
export async function ask(
  installation: Installation,
  server: UpdateServer,
  { question, fresh }: { question: UpdateQuestion; fresh: boolean },
  readManifest: (place: ManifestPlace) => Promise<Buffer>,
): Promise<FoundRelease | null> {
  const { agent } = installation;
  let key = await currentKey(installation, server, question);
  const answer = await server.check(question);
  const outOfReach = fresh && answer.offered === null && answer.latestVersion !== null;
  const offered = outOfReach ? await server.latest(question) : answer.offered;
  if (offered?.keyId && key !== null && offered.keyId !== key.keyId)
    // The key may have been rotated between the two requests.
    key = await currentKey(installation, server, question);
  const required = await rememberRequired(installation, answer);
  if (answer.currentWithdrawn) agent.output.warning(`the installed ${question.version} was withdrawn`);
  const manifestOrPlace = offered?.manifest ?? null;
  const bytes =
    manifestOrPlace === null || Buffer.isBuffer(manifestOrPlace)
      ? manifestOrPlace
      : await readManifest(manifestOrPlace);
  await judgeFresh(installation, server, question, { key, required, offered, bytes, newestWanted: outOfReach });
  if (offered === null || bytes === null) return null;
  const state = installation.state.current;
  const { allowUnsigned } = agent.options;
  const warning = judgeSignature(bytes, offered.signature, {
    key,
    pinned: state.pin !== null,
    required,
    allowUnsigned,
  });
  if (warning !== null) agent.output.warning(warning);
  const manifest = manifestOf(bytes);
  compareWithAsked(manifest, { ...question, ...offered });
  checkNotOlder(manifest, fresh ? null : question.version, state.highest_version);
  const more = answer.latestVersion !== null && compareVersions(answer.latestVersion, manifest.version) > 0;
  return { release: { manifest, bytes }, offered, more };
}

async function currentKey(
  installation: Installation,
  server: UpdateServer,
  { version }: UpdateQuestion,
): Promise<VerifyingKey | null> {
  const { pin, allowUnsigned } = installation.agent.options;
  const rules = { state: installation.state.current, pin, allowUnsigned, installed: version };
  const { key, state } = decideKey(await server.publicKey(), rules);
  await installation.save(state);
  return key;
}

async function rememberRequired(installation: Installation, answer: CheckAnswer): Promise<boolean> {
  const state = installation.state.current;
  const seen = state.require_signed || answer.requireSigned;
  await installation.save({ ...state, require_signed: seen });
  return seen || installation.agent.options.requireSigned;
}

interface FreshnessFacts {
  key: VerifyingKey | null;
  required: boolean;
  offered: Offered | null;
  bytes: Buffer | null;
  newestWanted: boolean;
}

async function judgeFresh(
  installation: Installation,
  server: UpdateServer,
  question: UpdateQuestion,
  facts: FreshnessFacts,
): Promise<void> {
  const { output, options } = installation.agent;
  const { product, channel, platform, version } = question;
  const { key, required, offered, bytes, newestWanted } = facts;
  const state = installation.state.current;
  const judged = judgeFreshness({
    signed: await statement(server, question, required),
    key,
    product,
    channel,
    platform,
    current: version,
    offered: offered === null || bytes === null ? null : { version: offered.version, manifestSha256: sha256Of(bytes) },
    newestWanted,
    newestSeen: state.statements[channel] ?? null,
    now: Date.now(),
  });
  if ('issuedAt' in judged) {
    await installation.save({
      ...state,
      statements: { ...state.statements, [channel]: judged.issuedAt },
      unsigned_said: null,
    });
    return;
  }
  // An unsigned server has no statements: the option that allows its releases also allows missing
  // statements.
  if (required && !(judged.missing && options.allowUnsigned)) throw new AgentFailure('unverified', judged.why);
  // A server without a key was reported before; what is installed is reported in any case.
  const said = key === null ? judged.why : null;
  if (said === null || offered !== null || state.unsigned_said !== said) output.warning(judged.why);
  await installation.save({ ...state, unsigned_said: said });
}

/** Where statements are not required, an unreachable one counts as missing: a warning. */
async function statement(
  server: UpdateServer,
  { product, channel }: UpdateQuestion,
  required: boolean,
): Promise<SignedStatement | null> {
  try {
    return await server.freshness(product, channel);
  } catch (error) {
    if (required || !(error instanceof AgentFailure) || error.outcome === 'cancelled') throw error;
    return null;
  }
}
