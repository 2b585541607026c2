/**
 * Validates what `setup` returned. Valid parts are retained, so that the routes of a failed plugin
 * can answer 503.
 */
import type { Extension } from '../../ports/token.js';
import type { CommandSpec } from '../contract/command.js';
import type { PluginParts } from '../contract/plugin.js';
import type { FullManifest } from '../manifest.js';
import type { NameRegistry } from './name-registry.js';
import { findPageFaults, findPanelFaults, findRouteFaults } from './http-faults.js';
import { toFullyNamedJob, findJobFaults } from './job-faults.js';
import { commandSchema, extensionSchema, listenSchema, partsSchema, findSchemaFaults } from './part-schemas.js';

/** For plugins whose shapes the tests have validated. */
const skipShapeCheck: typeof findSchemaFaults = () => [];

export interface ValidatedParts {
  parts: PluginParts;
  faults: string[];
}

export function validateParts(
  returned: unknown,
  manifest: FullManifest,
  { views, tested }: { views: string | null; tested: boolean },
  claims: NameRegistry,
): ValidatedParts {
  const look = tested ? skipShapeCheck : findSchemaFaults;
  const wrong = look(partsSchema, returned).map((fault) => `setup must return its parts: ${fault}`);
  if (wrong.length > 0) return { parts: {}, faults: wrong };
  const parts = returned as PluginParts;
  const faults: string[] = [];
  const keep = <T extends object>(list: readonly T[] = [], validate: (one: T) => string[]): T[] =>
    list.filter((one) => {
      const found = validate(one);
      faults.push(...found);
      return found.length === 0;
    });

  const { id } = manifest;
  const validParts: PluginParts = {
    health: parts.health?.bind(parts),
    start: parts.start?.bind(parts),
    stop: parts.stop?.bind(parts),
    services: parts.services,
    extensions: keep(parts.extensions, (extension) => findExtensionFaults(extension, manifest, look)),
    routes: keep(parts.routes, (route) => findRouteFaults(route, manifest, claims, look)),
    pages: keep(parts.pages, (page) => findPageFaults(page, { id, views }, claims, look)),
    hosts: parts.hosts,
    panels: keep(parts.panels, (panel) => findPanelFaults(panel, views, look)),
    jobs: keep(parts.jobs, (job) => findJobFaults(job, id, claims, look)).map((job) => toFullyNamedJob(job, id)),
    listens: keep(parts.listens, (listen) =>
      look(listenSchema, listen).map((f) => `listener of ${listen.event}: ${f}`),
    ),
    commands: keep(parts.commands, (command) => findCommandFaults(command, id, claims, look)),
  };
  faults.push(...findServiceFaults(parts.services ?? {}, manifest.provides));
  return { parts: validParts, faults };
}

function findCommandFaults(
  command: CommandSpec,
  plugin: string,
  claims: NameRegistry,
  look: typeof findSchemaFaults,
): string[] {
  const faults = look(commandSchema, command);
  if (faults.length === 0) {
    const owner = claims.claim(`command ${command.name}`, plugin);
    if (owner !== null)
      faults.push(`${owner === plugin ? 'this plugin' : `plugin ${owner}`} already has a command with this name`);
  }
  return faults.map((fault) => `command ${command.name}: ${fault}`);
}

function findExtensionFaults(
  extension: Extension,
  manifest: Pick<FullManifest, 'extends'>,
  look: typeof findSchemaFaults,
): string[] {
  const { point } = extension;
  if (typeof point === 'string' && !manifest.extends.includes(point))
    return [`adds to the extension point "${point}", which is not in its manifest: declare it in \`extends\``];
  return look(extensionSchema, extension).map((fault) => `extension of ${point}: ${fault}`);
}

function findServiceFaults(services: Readonly<Record<string, unknown>>, provides: readonly string[]): string[] {
  const missing = provides.filter((name) => services[name] === undefined || services[name] === null);
  const lies = Object.keys(services).filter((name) => !provides.includes(name));
  return [
    ...missing.map((name) => `its manifest provides "${name}", but setup did not return this service`),
    ...lies.map((name) => `the service "${name}" is not in its manifest: declare it in \`provides\``),
  ];
}
