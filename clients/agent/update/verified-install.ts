/**
 * Ends with the new version, or with the old one and a failure (contract 90, update, from "extract
 * into staging" to "clean up").
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { applyPlan, commitTransaction, type Transaction } from '../apply/apply.js';
import { Journal, type JournalHead } from '../apply/journal.js';
import { saveCopy } from '../apply/own-file.js';
import { planUpdate, type CarriedSettings } from '../apply/plan.js';
import { backUpManifest } from '../apply/previous-version.js';
import { probeFileSystem } from '../apply/probe.js';
import { finishTransaction, reportKept, rollBack } from '../apply/recover.js';
import { countBytes, stageRelease, type ReleaseFiles } from '../apply/staging.js';
import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import { AgentFailure, toAgentFailure } from '../exit.js';
import { statPath } from '../system/files.js';
import { hashBytes, type VerifiedRelease } from '../trust/release-verification.js';
import type { Installation } from './installation.js';
import { checkSpace, reserveSpace } from './space.js';

export interface InstallTarget {
  release: VerifiedRelease;
  files: ReleaseFiles;
  /** A rollback: the kept version, and files that stay missing. */
  restores?: { name: string; missing: ReadonlySet<string> };
  /**
   * Called after verification and before planning: waits for the application and stops its service.
   */
  beforePlan: () => Promise<void>;
  carryOver: CarryOver;
}

export type CarryOver = (installation: Installation, next: ReleaseManifest, tx: string) => Promise<CarriedSettings>;

export async function installVerified(
  installation: Installation,
  { release, files, restores, beforePlan, carryOver }: InstallTarget,
): Promise<void> {
  const { agent, layout } = installation;
  const { hooks, output, signal } = agent;
  const { manifest } = release;
  const unpacked = countBytes(files, manifest);
  await checkSpace(layout.root, unpacked + release.bytes.length, manifest.files.length);
  const tx = randomUUID();
  try {
    output.printNote('unpacking', { version: manifest.version }, `unpacking ${manifest.version}`);
    const onProgress = (done: number, before: number): void => output.drawProgress('unpacking', done, unpacked, before);
    await stageRelease({ layout, tx, files, release, signal, onProgress });
    hooks.at('staged', '');
    await beforePlan();
    await executePlan(installation, release, { tx, carried: await carryOver(installation, manifest, tx), restores });
  } catch (error) {
    if ((await statPath(layout.journal)) === null)
      for (const path of [layout.getStagingFolder(tx), layout.reserve])
        await rm(path, { recursive: true, force: true });
    throw toAgentFailure(error);
  }
  await installation.saveHighestVersion(manifest.version);
}

async function executePlan(
  installation: Installation,
  release: VerifiedRelease,
  { tx, carried, restores }: { tx: string; carried: CarriedSettings; restores: InstallTarget['restores'] },
): Promise<void> {
  const { agent, layout, own, createParentValidator: parents } = installation;
  const { hooks, output, signal } = agent;
  const { manifest, bytes } = release;
  const system = await probeFileSystem(layout);
  const previous = installation.manifest;
  const warn = (text: string): void => output.warn(text);
  const folders = await parents();
  const isForeign = previous === null && agent.options.currentVersion !== null;
  const next = { ...manifest, files: manifest.files.filter(({ path }) => restores?.missing.has(path) !== true) };
  const input = { layout, parents: folders, system, previous, next, own, isForeign, signal, carried, warn };
  const plan = await planUpdate(input);
  const head: JournalHead = {
    schema: 1,
    tx,
    product: manifest.product,
    platform: manifest.platform,
    from: previous?.version ?? agent.options.currentVersion,
    to: manifest.version,
    manifest_sha256: hashBytes(bytes),
    links: system.links,
    started_at: new Date().toISOString(),
    ...(restores === undefined ? { keep: agent.options.keepBackups } : { restores: restores.name }),
    plan,
  };
  await saveCopy(layout, agent.ownFile);
  await reserveSpace(layout);
  const transaction: Transaction = { layout, head, hooks };
  const count = plan.files.length + plan.removals.length;
  output.printNote('applying', { version: manifest.version, files: count }, `replacing ${count} files`);
  hooks.at('before journal', '');
  const journal = await Journal.create(layout, head);
  hooks.at('journal begun', '');
  try {
    if (restores === undefined && agent.options.keepBackups > 0) await backUpManifest(layout, tx);
    await applyPlan(transaction, journal, signal);
    await commitTransaction(transaction);
  } catch (error) {
    await journal.close();
    if ((await statPath(layout.getStagedManifest(tx))) === null) throw error;
    throw await rollBackAfter(installation, transaction, toAgentFailure(error));
  }
  await journal.close();
  installation.manifest = manifest;
  await finishTransaction(transaction, own);
  reportKept(output, head);
}

/** Exit 4, or 11 after cancellation; 5 from the rollback itself. */
async function rollBackAfter(
  { agent }: Installation,
  transaction: Transaction,
  cause: AgentFailure,
): Promise<AgentFailure> {
  agent.output.printNote('rolling_back', { reason: cause.message }, 'rolling back the update');
  await rollBack(transaction);
  agent.output.reportRolledBack(transaction.head.from, transaction.head.to);
  if (cause.outcome === 'cancelled') return new AgentFailure('cancelled', 'cancelled and rolled back', { cause });
  return new AgentFailure('rolledBack', `the update failed and was rolled back: ${cause.message}`, { cause });
}
