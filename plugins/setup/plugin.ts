/** The setup path (contract 60): the first installation of an application by the update agent. */
import { definePlugin, extend } from '../../kernel/contract.js';
import { CREDENTIALS } from '../../ports/domain/access.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { TOKENS } from '../../ports/domain/tokens.js';
import { FIRST_STEPS } from '../../ports/domain/dashboard.js';
import { PROJECT_BELONGINGS, PROJECT_PARTS, PROJECTS } from '../../ports/domain/projects.js';
import { RELEASES } from '../../ports/domain/releases.js';
import { SYSTEM } from '../../ports/domain/system.js';
import { WATCHDOG } from '../../ports/domain/watchdog.js';
import { ApplicationTokens } from './application.js';
import { Catalog, RELEASES_NOW } from './catalog.js';
import { setupConfig } from './config.js';
import { Machines } from './machine.js';
import { BUILD_COMMAND, NOT_BUILT } from './installer/install-sh.js';
import { installerRoutes } from './installer/routes.js';
import { SPOKEN, type IssuedDoc, type MachineDoc, type SetupMark } from './issued.js';
import { pages, projectPart } from './pages.js';
import { routes } from './routes.js';
import { SetupLogin } from './session.js';

export default definePlugin({
  id: 'setup',
  version: '1.0.0',
  api: 1,
  title: 'Setup',
  ports: ['installers'],
  needs: [AUDIT.name, CREDENTIALS.name, TOKENS.name, PROJECTS.name, SYSTEM.name, WATCHDOG.name],
  uses: [RELEASES.name],
  extends: [FIRST_STEPS.point, PROJECT_PARTS.point, PROJECT_BELONGINGS.point],
  config: setupConfig,
  scopes: ['setup:install'],
  tags: { setup: 'First installations: login, what can be installed, the token of the application.' },
  collections: [
    { name: 'issued', indexes: [{ fields: ['kind', 'name'] }] },
    { name: 'machines', indexes: [] },
    { name: 'marks', indexes: [] },
  ],
  from: import.meta.url,
  setup(ctx) {
    ctx.bind(RELEASES_NOW, () => ctx.find(RELEASES));
    const services = { login: SetupLogin, catalog: Catalog, applications: ApplicationTokens, machines: Machines };
    const { installers } = ctx.ports;
    const issued = ctx.collection<IssuedDoc>('issued');
    const marks = ctx.collection<SetupMark>('marks');
    const machines = {
      watchdog: ctx.resolve(WATCHDOG),
      projects: ctx.resolve(PROJECTS),
      installers,
      baseUrl: () => ctx.app.base_url,
    };
    return {
      pages: pages(machines),
      extensions: [
        extend(PROJECT_PARTS, projectPart(machines)),
        extend(PROJECT_BELONGINGS, {
          clear: async (project) => {
            await issued.remove({ project });
            await ctx.collection<MachineDoc>('machines').remove({ project });
          },
        }),
        extend(FIRST_STEPS, {
          id: 'machine',
          order: 65,
          title: 'Install a machine',
          text: 'Run it on the machine: the update agent comes with its own program, asks who you are, and installs the application.',
          page: { label: 'Machines', href: '/machines' },
          // Not every application needs a token, and not every machine is monitored.
          done: async () => (await marks.get(SPOKEN)) !== null || (await issued.find({ limit: 1 })).items.length > 0,
          command: ({ baseUrl }) => `curl -fsSL ${baseUrl}/installer/install.sh | sh`,
          lacks: async () =>
            installers.placing() === null && (await installers.manifest()) === null
              ? { text: `${NOT_BUILT} Then the line for machines stands here.`, command: BUILD_COMMAND }
              : null,
          token: null,
        }),
      ],
      routes: [...routes(ctx.services(services)), ...installerRoutes(installers, () => ctx.app.base_url)],
      health: async () => {
        const placing = installers.placing();
        if (placing !== null) return { ok: true, update_agents: `${placing.version} is being placed` };
        const built = await installers.manifest();
        return { ok: true, update_agents: built === null ? `none: ${BUILD_COMMAND}` : built.version };
      },
    };
  },
});
