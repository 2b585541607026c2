/** The setup path (contract 60): the first installation of an application by the update agent. */
import { definePlugin, extend } from '../../kernel/contract/index.js';
import { CREDENTIALS } from '../../ports/domain/access.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { TOKENS } from '../../ports/domain/tokens.js';
import { ONBOARDING_STEPS } from '../../ports/domain/dashboard.js';
import { MACHINES } from '../../ports/domain/machines/inventory.js';
import { PROJECT_CLEANUPS, PROJECT_PARTS, PROJECTS } from '../../ports/domain/projects.js';
import { RELEASES } from '../../ports/domain/releases.js';
import { SYSTEM } from '../../ports/domain/system.js';
import { WATCHDOG } from '../../ports/domain/watchdog.js';
import { ApplicationTokenService } from './application-tokens.js';
import { SetupCatalog, RELEASE_DIRECTORY } from './catalog.js';
import { setupConfig } from './config.js';
import { SetupMachineService } from './machine.js';
import { BUILD_COMMAND } from './installer/install-sh.js';
import { buildInstallerRoutes } from './installer/routes.js';
import { FIRST_LOGIN_MARK_ID, type IssuedDoc, type MachineDoc, type SetupMark } from './documents.js';
import { buildMachinePages, createMachinePart } from './pages.js';
import { buildSetupRoutes } from './routes.js';
import { SetupLoginService } from './session.js';

export default definePlugin({
  id: 'setup',
  version: '1.0.0',
  api: 1,
  title: 'Setup',
  ports: ['installers'],
  needs: [AUDIT.name, CREDENTIALS.name, TOKENS.name, PROJECTS.name, SYSTEM.name, WATCHDOG.name],
  uses: [RELEASES.name, MACHINES.name],
  extends: [ONBOARDING_STEPS.point, PROJECT_PARTS.point, PROJECT_CLEANUPS.point],
  config: setupConfig,
  scopes: ['setup:install'],
  tags: { setup: 'First installations: login, catalog, and the token of the application.' },
  collections: [
    { name: 'issued', indexes: [{ fields: ['kind', 'name'] }] },
    { name: 'machines', indexes: [] },
    { name: 'marks', indexes: [] },
  ],
  from: import.meta.url,
  setup(ctx) {
    ctx.bind(RELEASE_DIRECTORY, () => ctx.find(RELEASES));
    const services = {
      login: SetupLoginService,
      catalog: SetupCatalog,
      applications: ApplicationTokenService,
      machines: SetupMachineService,
    };
    const { installers } = ctx.ports;
    const issued = ctx.collection<IssuedDoc>('issued');
    const marks = ctx.collection<SetupMark>('marks');
    const machines = {
      machines: () => ctx.find(MACHINES),
      watchdog: ctx.resolve(WATCHDOG),
      projects: ctx.resolve(PROJECTS),
      installers,
      baseUrl: () => ctx.app.base_url,
    };
    return {
      pages: buildMachinePages(machines),
      extensions: [
        extend(PROJECT_PARTS, createMachinePart(machines)),
        extend(PROJECT_CLEANUPS, {
          clear: async (project) => {
            await issued.remove({ project });
            await ctx.collection<MachineDoc>('machines').remove({ project });
          },
        }),
        extend(ONBOARDING_STEPS, {
          id: 'machine',
          order: 65,
          title: 'Install on a machine',
          text: 'Run this on the machine to install the application.',
          page: { label: 'Machines', href: '/machines' },
          // Not every application needs a token, and not every machine is monitored.
          isDone: async () =>
            (await marks.get(FIRST_LOGIN_MARK_ID)) !== null || (await issued.find({ limit: 1 })).items.length > 0,
          command: ({ baseUrl }) => `curl -fsSL ${baseUrl}/installer/install.sh | sh`,
          findMissingSetup: async () =>
            installers.getPendingManifest() === null && (await installers.readManifest()) === null
              ? {
                  text: 'Installers aren’t built yet. Run this on the server, then restart it.',
                  command: BUILD_COMMAND,
                }
              : null,
          token: null,
        }),
      ],
      routes: [
        ...buildSetupRoutes(ctx.services(services)),
        ...buildInstallerRoutes(installers, () => ctx.app.base_url),
      ],
      health: async () => {
        const placing = installers.getPendingManifest();
        if (placing !== null) return { ok: true, update_agents: `${placing.version} is being prepared` };
        const built = await installers.readManifest();
        return { ok: true, update_agents: built === null ? `not built: run ${BUILD_COMMAND}` : built.version };
      },
    };
  },
});
