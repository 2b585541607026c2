import type { JobSpec } from '../../ports/jobs.js';
import type { NameRegistry } from './name-registry.js';
import { jobSchema, type findSchemaFaults } from './part-schemas.js';

/** `sweep` of the plugin chat is `chat.sweep`. */
export function getFullJobName(plugin: string, name: string): string {
  return name.includes('.') ? name : `${plugin}.${name}`;
}

export const toFullyNamedJob = (job: JobSpec, plugin: string): JobSpec => ({
  ...job,
  name: getFullJobName(plugin, job.name),
  run: (call) => job.run(call),
});

export function findJobFaults(
  job: JobSpec,
  plugin: string,
  claims: NameRegistry,
  look: typeof findSchemaFaults,
): string[] {
  const faults = look(jobSchema, job);
  if (faults.length === 0) {
    const name = getFullJobName(plugin, job.name);
    if (!/^[a-z][a-z0-9]*\.[a-z][a-z0-9_-]*$/.test(name) || !name.startsWith(`${plugin}.`)) {
      faults.push(`its name must be "${plugin}." and a lower-case word`);
    } else if (claims.claim(`job ${name}`, plugin) !== null)
      faults.push('this plugin already has a job with this name');
  }
  return faults.map((fault) => `job ${job.name}: ${fault}`);
}
