/**
 * Installs a verified release (contract 90, update, from "extract into staging" to "clean up"). It
 * ends with the new version, or with the old one and a failure.
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { apply, commit, type Transaction } from '../apply/apply.js';
import { Journal, type Head } from '../apply/journal.js';
import { keepCopy } from '../apply/own-file.js';
import { planUpdate, type Carried } from '../apply/plan.js';
import { probe } from '../apply/probe.js';
import { finish, reportKept, rollBack } from '../apply/recover.js';
import { stage } from '../apply/staging.js';
import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import { AgentFailure, failureOf } from '../exit.js';
import { look } from '../system/files.js';
import { sha256Of, type VerifiedRelease } from '../trust/verified.js';
import type { Installation } from './installation.js';
import { checkSpace, reserve } from './space.js';

export interface Goal {
  release: VerifiedRelease;
  archive: string;
  /**
   * Called after verification and before planning: waits for the application and stops its service.
   */
  beforePlan: () => Promise<void>;
  carryOver: CarryOver;
}

export type CarryOver = (installation: Installation, next: ReleaseManifest, tx: string) => Promise<Carried>;

export async function bring(
  installation: Installation,
  { release, archive, beforePlan, carryOver }: Goal,
): Promise<void> {
  const { agent, layout } = installation;
  const { hooks, output, signal } = agent;
  const { manifest } = release;
  const unpacked = manifest.files.reduce((sum, { size }) => sum + size, 0);
  await checkSpace(layout.root, unpacked + release.bytes.length, manifest.files.length);
  const tx = randomUUID();
  try {
    output.note('unpacking', { version: manifest.version }, `unpacking ${manifest.version}`);
    const onProgress = (done: number, before: number): void => output.progress('unpacking', done, unpacked, before);
    await stage({ layout, tx, archive, release, signal, onProgress });
    hooks.at('staged', '');
    await beforePlan();
    await carryOut(installation, release, tx, await carryOver(installation, manifest, tx));
  } catch (error) {
    if ((await look(layout.journal)) === null)
      for (const path of [layout.staging(tx), layout.reserve]) await rm(path, { recursive: true, force: true });
    throw failureOf(error);
  }
  await installation.remember(manifest.version);
}

async function carryOut(
  installation: Installation,
  release: VerifiedRelease,
  tx: string,
  carried: Carried,
): Promise<void> {
  const { agent, layout, own, parents } = installation;
  const { hooks, output, signal } = agent;
  const { manifest, bytes } = release;
  const system = await probe(layout);
  const previous = installation.manifest;
  const warn = (text: string): void => output.warning(text);
  const folders = await parents();
  const isForeign = previous === null && agent.options.currentVersion !== null;
  const input = { layout, parents: folders, system, previous, next: manifest, own, isForeign, signal, carried, warn };
  const plan = await planUpdate(input);
  const head: Head = {
    schema: 1,
    tx,
    product: manifest.product,
    platform: manifest.platform,
    from: previous?.version ?? agent.options.currentVersion,
    to: manifest.version,
    manifest_sha256: sha256Of(bytes),
    links: system.links,
    started_at: new Date().toISOString(),
    plan,
  };
  await keepCopy(layout, agent.ownFile);
  await reserve(layout);
  const transaction: Transaction = { layout, head, hooks };
  const count = plan.files.length + plan.removals.length;
  output.note('applying', { version: manifest.version, files: count }, `replacing ${count} files`);
  hooks.at('before journal', '');
  const journal = await Journal.begin(layout, head);
  hooks.at('journal begun', '');
  try {
    await apply(transaction, journal, signal);
    await commit(transaction);
  } catch (error) {
    await journal.close();
    if ((await look(layout.stagedManifest(tx))) === null) throw error;
    throw await takenBack(installation, transaction, failureOf(error));
  }
  await journal.close();
  installation.manifest = manifest;
  await finish(transaction, own);
  reportKept(output, head);
}

/** Exit 4, or 11 after cancellation; 5 from the rollback itself. */
async function takenBack(
  { agent }: Installation,
  transaction: Transaction,
  cause: AgentFailure,
): Promise<AgentFailure> {
  agent.output.note('rolling_back', { reason: cause.message }, 'taking the update back');
  await rollBack(transaction);
  agent.output.rolledBack(transaction.head.from, transaction.head.to);
  if (cause.outcome === 'cancelled') return new AgentFailure('cancelled', 'cancelled, and taken back', { cause });
  return new AgentFailure('rolledBack', `the update failed and was taken back: ${cause.message}`, { cause });
}
