/**
 * Installs releases from a server until it offers no more (contract 90, defaults: steps), for
 * updates and installations.
 */
import { rm } from 'node:fs/promises';
import { MAX_MANIFEST_BYTES } from '../../../lib/formats/manifest.js';
import { compareVersions } from '../../../lib/versions.js';
import { toPrintable } from '../../../lib/text/printable.js';
import { resolveServerPath } from '../options/address.js';
import { downloadPackage, ContentMismatch, downloadToMemory } from '../net/download.js';
import type { ReleaseFiles } from '../apply/staging.js';
import { downloadChangedFiles, getChangedFilesFolder } from './changed-files.js';
import { installVerified, type CarryOver } from './verified-install.js';
import type { Installation } from './installation.js';
import { findRelease, type FoundRelease } from './release-finder.js';
import type { ManifestPlace, UpdateQuery, UpdateServiceClient } from './server.js';
import { checkSpace } from './space.js';

/**
 * Maximum steps of an old installation (contract 40, publishing), so that a faulty server cannot
 * cause an endless loop.
 */
const MAX_STEPS = 8;

export interface UpdateContext {
  question: UpdateQuery;
  fresh: boolean;
  beforePlan: () => Promise<void>;
  carryOver: CarryOver;
}

export async function installOffered(
  installation: Installation,
  server: UpdateServiceClient,
  { question, fresh, beforePlan, carryOver }: UpdateContext,
): Promise<number> {
  const { output } = installation.agent;
  let { version } = question;
  for (let step = 0; step < MAX_STEPS; step++) {
    const fetched = await fetchOffered(installation, server, {
      question: { ...question, version },
      fresh: fresh && step === 0,
    });
    if (fetched === null) return step;
    const { found, files, downloaded } = fetched;
    const { manifest } = found.release;
    await installVerified(installation, { release: found.release, files, beforePlan, carryOver });
    await rm(downloaded, { recursive: true, force: true });
    await installation.forgetLeftVersion(manifest.version);
    output.reportUpdated(fresh && step === 0 ? null : version, manifest.version);
    version = manifest.version;
    if (!found.more) return step + 1;
  }
  const { root } = installation.layout;
  output.warn(`${root} is not at the newest version after ${MAX_STEPS} steps; run the agent again`);
  return MAX_STEPS;
}

interface FetchedRelease {
  found: FoundRelease;
  files: ReleaseFiles;
  /** Removed after the installation. */
  downloaded: string;
}

/** Mismatching bytes lead to one more query, because the release may have been replaced. */
async function fetchOffered(
  installation: Installation,
  server: UpdateServiceClient,
  request: { question: UpdateQuery; fresh: boolean },
): Promise<FetchedRelease | null> {
  const { network, output } = installation.agent;
  const readManifest = ({ path, sha256 }: ManifestPlace): Promise<Buffer> =>
    downloadToMemory({ url: resolveServerPath(server.address, path), most: MAX_MANIFEST_BYTES, sha256 }, network, () =>
      output.releaseWarnings(),
    );
  for (let attempt = 0; ; attempt++) {
    try {
      const found = await findRelease(installation, server, request, readManifest);
      if (found === null || isLeftVersion(installation, found)) return null;
      return { found, ...(await fetchFiles(installation, server, found)) };
    } catch (error) {
      if (!(error instanceof ContentMismatch) || attempt > 0) throw error;
    }
  }
}

/**
 * Returns whether `--action rollback` left the offered version. A newer release, or `--action
 * update` on the command line, installs it.
 */
function isLeftVersion({ agent, state }: Installation, { release, more }: FoundRelease): boolean {
  const { version } = release.manifest;
  const left = state.current.left_version ?? null;
  if (left === null || more || agent.options.actionGiven || compareVersions(left, version) !== 0) return false;
  agent.output.warn(`${version} was rolled back here; use --action update, or wait for a newer release`);
  return true;
}

async function fetchFiles(
  installation: Installation,
  server: UpdateServiceClient,
  found: FoundRelease,
): Promise<Omit<FetchedRelease, 'found'>> {
  const { network, hooks, signal, output } = installation.agent;
  const onAccepted = (): void => output.releaseWarnings();
  const downloader = { network, hooks, signal, onAccepted, onProgress: () => undefined };
  const copies = await downloadChangedFiles(installation, server.address, found, downloader);
  if (copies !== null) return { files: { copies }, downloaded: getChangedFilesFolder(installation) };
  const archive = await fetchPackage(installation, server, found);
  return { files: { archive }, downloaded: archive };
}

async function fetchPackage(
  { agent, layout }: Installation,
  server: UpdateServiceClient,
  found: FoundRelease,
): Promise<string> {
  const { network, output, hooks, signal } = agent;
  const { manifest } = found.release;
  const unpacked = manifest.files.reduce((sum, { size }) => sum + size, 0);
  await checkSpace(layout.root, manifest.package.size + unpacked, manifest.files.length);
  const { sha256, size } = manifest.package;
  const notes = found.offered.notes === null ? '' : `: ${toPrintable(found.offered.notes, 200)}`;
  output.printNote(
    'downloading',
    { version: manifest.version, bytes: size },
    `downloading ${manifest.version}${notes}`,
  );
  return downloadPackage(
    layout.download,
    { url: resolveServerPath(server.address, found.offered.packageUrl), size, sha256 },
    {
      network,
      hooks,
      signal,
      onAccepted: () => output.releaseWarnings(),
      onProgress: (done, before) => output.drawProgress('downloading', done, size, before),
    },
  );
}
