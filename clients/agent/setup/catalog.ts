import { toPrintable } from '../../../lib/text/printable.js';
import { AgentFailure } from '../exit.js';
import { promptChoice, isInteractive } from '../prompts.js';
import type { Agent } from '../update/installation.js';
import type { SetupApi } from '../net/session.js';

export interface OfferedProject {
  slug: string;
  name: string;
  channels: { channel: string; version: string }[];
}

const MAX_CATALOG_BYTES = 8 * 1024 * 1024;
const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;

const createInvalidCatalogFailure = (field: string): AgentFailure =>
  new AgentFailure('unverified', `server response: ${field} is not valid`);
const isText = (value: unknown): value is string => typeof value === 'string';

export async function fetchCatalog(session: SetupApi, platform: string): Promise<OfferedProject[]> {
  const { projects } = await session.get('catalog', { platform }, MAX_CATALOG_BYTES);
  if (!Array.isArray(projects)) throw createInvalidCatalogFailure('projects');
  return projects.map((project: unknown, n): OfferedProject => {
    const { slug, name, channels } = (project ?? {}) as Record<string, unknown>;
    if (!isText(slug) || !SLUG_PATTERN.test(slug) || !isText(name) || !Array.isArray(channels))
      throw createInvalidCatalogFailure(`projects[${n}]`);
    return { slug, name, channels: channels.map((one: unknown) => parseChannel(one, `projects[${n}].channels`)) };
  });
}

function parseChannel(value: unknown, at: string): { channel: string; version: string } {
  const { channel, version } = (value ?? {}) as Record<string, unknown>;
  if (!isText(channel) || !SLUG_PATTERN.test(channel) || !isText(version)) throw createInvalidCatalogFailure(at);
  return { channel, version };
}

export interface ReleaseChoice {
  project: string;
  channel: string;
}

/**
 * Options precede prompts, and an unambiguous choice is not prompted.
 * @throws AgentFailure usage
 */
export async function chooseRelease(
  agent: Agent,
  catalog: readonly OfferedProject[],
  platform: string,
): Promise<ReleaseChoice> {
  const project = await chooseProject(agent, catalog, platform);
  return { project: project.slug, channel: await chooseChannel(agent, project, platform) };
}

async function chooseProject(
  { options, signal }: Agent,
  catalog: readonly OfferedProject[],
  platform: string,
): Promise<OfferedProject> {
  const slugs = catalog.map(({ slug }) => slug);
  if (options.project !== null) {
    const found = catalog.find(({ slug }) => slug === options.project);
    if (found !== undefined) return found;
    const offered = slugs.length === 0 ? 'nothing' : slugs.slice(0, 20).join(', ');
    throw new AgentFailure(
      'error',
      `${options.project} is not available for ${platform}; the server offers ${offered}`,
    );
  }
  const [first, second] = catalog;
  if (first === undefined) throw new AgentFailure('error', `the server offers nothing for ${platform}`);
  if (second === undefined && !isInteractive(options)) return first;
  if (!isInteractive(options))
    throw new AgentFailure('usage', `--project is missing: one of ${slugs.slice(0, 20).join(', ')}`);
  const texts = catalog.map(
    ({ slug, name, channels }) => `${slug} ${channels[0]?.version ?? ''}  ${toPrintable(name, 100)}`,
  );
  const chosen = await promptChoice('Application', texts, second === undefined ? '1' : '', '--project', signal, true);
  return catalog[texts.indexOf(chosen)] ?? first;
}

async function chooseChannel(
  { options, signal }: Agent,
  { slug, channels }: OfferedProject,
  platform: string,
): Promise<string> {
  const names = channels.map(({ channel }) => channel);
  if (options.channel !== null) {
    if (names.includes(options.channel)) return options.channel;
    throw new AgentFailure(
      'error',
      `${slug} has no channel ${options.channel} for ${platform}; it has ${names.join(', ')}`,
    );
  }
  const standard = names.includes('stable') ? 'stable' : (names[0] ?? 'stable');
  if (names.length < 2 || !isInteractive(options)) return standard;
  const texts = channels.map(({ channel, version }) => `${channel} ${toPrintable(version, 50)}`);
  const at = String(names.indexOf(standard) + 1);
  const chosen = await promptChoice('Channel', texts, at, '--channel', signal, true);
  return names[texts.indexOf(chosen)] ?? standard;
}
