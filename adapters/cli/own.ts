/**
 * The service's own commands, imported lazily. Domain commands (`token`, `user`, `project` …) come
 * from plugins.
 */
import type { CommandSpec } from '../../kernel/contract.js';

export const OWN: Readonly<Record<string, () => Promise<CommandSpec>>> = {
  serve: async () => (await import('./serve.js')).serve,
  migrate: async () => (await import('./migrate.js')).migrate,
  tick: async () => (await import('./tick.js')).tick,
  doctor: async () => (await import('./doctor.js')).doctor,
  backup: async () => (await import('./moving.js')).backup,
  restore: async () => (await import('./moving.js')).restore,
  export: async () => (await import('./moving.js')).exportCommand,
  import: async () => (await import('./moving.js')).importCommand,
  'plugin list': async () => (await import('./plugin.js')).pluginList,
  'plugin forget': async () => (await import('./plugin.js')).pluginForget,
  'plugin check': async () => (await import('./plugin-check.js')).pluginCheck,
  'plugin new': async () => (await import('./plugin-new.js')).pluginNew,
  login: async () => (await import('./remote/login.js')).login,
  'bug list': async () => (await import('./remote/bug.js')).bugList,
  'bug show': async () => (await import('./remote/bug.js')).bugShow,
  'bug close': async () => (await import('./remote/bug.js')).bugClose,
  'monitor list': async () => (await import('./remote/monitor.js')).monitorList,
  'monitor pause': async () => (await import('./remote/monitor.js')).monitorPause,
  'monitor resume': async () => (await import('./remote/monitor.js')).monitorResume,
  'release list': async () => (await import('./remote/release.js')).releaseList,
  'release promote': async () => (await import('./remote/release.js')).releasePromote,
  'release withdraw': async () => (await import('./remote/release.js')).releaseWithdraw,
  'webhook list': async () => (await import('./remote/webhook.js')).webhookList,
  'webhook test': async () => (await import('./remote/webhook.js')).webhookTest,
  'release-key rotate': async () => (await import('./keys.js')).releaseKeyRotate,
  'license-key rotate': async () => (await import('./keys.js')).licenseKeyRotate,
};

export const ownCommands = (): Promise<CommandSpec[]> => Promise.all(Object.values(OWN).map((load) => load()));
