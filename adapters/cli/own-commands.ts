/** Domain commands (`token`, `user`, `project` …) come from plugins. */
import type { OwnCommand } from './composition.js';

export const OWN_COMMANDS: Readonly<Record<string, () => Promise<OwnCommand>>> = {
  serve: async () => (await import('./serve.js')).serveCommand,
  migrate: async () => (await import('./migrate.js')).migrateCommand,
  tick: async () => (await import('./tick.js')).tickCommand,
  doctor: async () => (await import('./doctor/index.js')).doctorCommand,
  backup: async () => (await import('./archive-commands.js')).backupCommand,
  restore: async () => (await import('./archive-commands.js')).restoreCommand,
  export: async () => (await import('./archive-commands.js')).exportCommand,
  import: async () => (await import('./archive-commands.js')).importCommand,
  'plugin list': async () => (await import('./plugin.js')).pluginListCommand,
  'plugin forget': async () => (await import('./plugin.js')).pluginForgetCommand,
  'plugin check': async () => (await import('./plugin-check.js')).pluginCheckCommand,
  'plugin new': async () => (await import('./plugin-new.js')).pluginNewCommand,
  login: async () => (await import('./remote/login.js')).loginCommand,
  'bug list': async () => (await import('./remote/bug.js')).bugListCommand,
  'bug show': async () => (await import('./remote/bug.js')).bugShowCommand,
  'bug close': async () => (await import('./remote/bug.js')).bugCloseCommand,
  'monitor list': async () => (await import('./remote/monitor.js')).monitorListCommand,
  'monitor pause': async () => (await import('./remote/monitor.js')).monitorPauseCommand,
  'monitor resume': async () => (await import('./remote/monitor.js')).monitorResumeCommand,
  'release list': async () => (await import('./remote/release.js')).releaseListCommand,
  'release promote': async () => (await import('./remote/release.js')).releasePromoteCommand,
  'release rollback': async () => (await import('./remote/release.js')).releaseRollbackCommand,
  'release withdraw': async () => (await import('./remote/release.js')).releaseWithdrawCommand,
  'webhook list': async () => (await import('./remote/webhook.js')).webhookListCommand,
  apply: async () => (await import('./remote/apply.js')).applyCommand,
  'export-config': async () => (await import('./remote/export-config.js')).exportConfigCommand,
  'webhook test': async () => (await import('./remote/webhook.js')).webhookTestCommand,
  'release-key rotate': async () => (await import('./key-rotation.js')).releaseKeyRotateCommand,
  'license-key rotate': async () => (await import('./key-rotation.js')).licenseKeyRotateCommand,
};

export const loadOwnCommands = (): Promise<OwnCommand[]> =>
  Promise.all(Object.values(OWN_COMMANDS).map((load) => load()));
