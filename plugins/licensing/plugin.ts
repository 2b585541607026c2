/**
 * Validated keys, machine slots, license files for offline machines, and store access by license
 * key (contract 50).
 */
import joi from 'joi';
import { definePlugin, extend, type JobSpec, type PluginContext } from '../../kernel/contract/index.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS, toIsoString } from '../../lib/time.js';
import { THROTTLE } from '../../ports/domain/access.js';
import { AUDIT_TARGETS, AUDIT } from '../../ports/domain/audit.js';
import {
  LICENSE_CHANGED,
  LICENSE_CREATED,
  LICENSE_EXPIRED,
  LICENSE_EXPIRING,
  LICENSE_MACHINE_PENDING,
  LICENSE_CHANGE_LISTENERS,
  LICENSES,
} from '../../ports/domain/licensing.js';
import { MAIL_QUEUE } from '../../ports/domain/mail/mail-queue.js';
import { MACHINES } from '../../ports/domain/machines/inventory.js';
import { PROJECT_PARTS, PROJECT_USAGE, PROJECTS, SELLER_BRANDS } from '../../ports/domain/projects.js';
import { ONBOARDING_STEPS } from '../../ports/domain/dashboard.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { COLLECTIONS } from './collections.js';
import type { LicensingDeps, LicensingConfig } from './deps.js';
import { LICENSE_ERRORS } from './model/states.js';
import { adminRoutes } from './http/admin-routes.js';
import { validationRoutes } from './http/validation-routes.js';
import { approvalPages, approvalPanels } from './pages/approvals.js';
import { LicenseKeySender } from './pages/key-delivery.js';
import { customerPages } from './pages/customer-page.js';
import { editPages } from './pages/editor.js';
import { licensePages } from './pages/license.js';
import { listPages } from './pages/licenses.js';
import { buildServices, type LicensingServices } from './services.js';
import { buildLicensePart } from './pages/project-summary.js';
import { createLicenseTargets } from './pages/audit-targets.js';
import { createLicenseSearch, createMachineSearch } from './pages/search.js';

/** A quarter of the delay that the contract allows for access files. */
const EXPIRY_INTERVAL_MS = 30 * SECOND_MS;

const configSchema = joi.object({
  expiring_days: joi
    .number()
    .integer()
    .min(1)
    .max(365)
    .default(14)
    .description('Number of days before a license ends that `license.expiring` is sent'),
});

function createDeps(ctx: PluginContext<LicensingConfig>): LicensingDeps {
  return {
    licenses: ctx.collection('licenses'),
    activations: ctx.collection('activations'),
    leases: ctx.collection('leases'),
    marks: ctx.collection('marks'),
    expiryMarks: ctx.collection('marks'),
    clock: ctx.clock,
    ids: ctx.ids,
    log: ctx.log,
    cipher: ctx.ports.cipher,
    hasher: ctx.ports.hasher,
    signer: ctx.ports.signers.licenses,
    audit: ctx.resolve(AUDIT),
    projects: ctx.resolve(PROJECTS),
    brands: ctx.resolve(SELLER_BRANDS),
    throttle: ctx.resolve(THROTTLE),
    machines: () => ctx.find(MACHINES),
    mail: () => ctx.find(MAIL_QUEUE),
    baseUrl: () => ctx.app.base_url.replace(/\/$/, ''),
    watchers: () => ctx.extensions(LICENSE_CHANGE_LISTENERS),
    emit: (event, data, options) => ctx.emit(event, data, options),
    config: ctx.config,
  };
}

function createJobs(
  { expiry, machines, seats, hashes, marks, watchers, outboxes }: LicensingServices,
  deps: LicensingDeps,
): JobSpec[] {
  return [
    { name: 'expire', everyMs: EXPIRY_INTERVAL_MS, run: async ({ signal }) => void (await expiry.run(signal)) },
    {
      name: 'reconcile',
      everyMs: 30 * SECOND_MS,
      run: async () => {
        for (const outbox of outboxes) await outbox.reconcile();
        if (await marks.reconcile()) await watchers.notify(null);
      },
    },
    {
      name: 'hash',
      everyMs: MINUTE_MS,
      timeoutMs: 10 * MINUTE_MS,
      // Younger licenses are being hashed by their creator.
      run: async ({ signal }) => void (await hashes.reconcile(toIsoString(deps.clock.now() - 2 * MINUTE_MS), signal)),
    },
    {
      name: 'release',
      everyMs: HOUR_MS,
      timeoutMs: 10 * MINUTE_MS,
      removesByAge: true,
      run: async ({ signal }) => {
        await machines.releaseUnseen(signal);
        await seats.removeReleased();
      },
    },
  ];
}

export default definePlugin<LicensingConfig>({
  id: 'licensing',
  section: 'licenses',
  version: '1.0.0',
  api: 1,
  title: 'Licenses',
  ports: ['signers'],
  uses: [MACHINES.name, MAIL_QUEUE.name],
  needs: [AUDIT.name, PROJECTS.name, SELLER_BRANDS.name, THROTTLE.name],
  provides: [LICENSES.name],
  extensionPoints: [LICENSE_CHANGE_LISTENERS.point],
  extends: [
    PROJECT_USAGE.point,
    PROJECT_PARTS.point,
    SEARCH_PROVIDERS.point,
    AUDIT_TARGETS.point,
    ONBOARDING_STEPS.point,
  ],
  config: configSchema,
  scopes: ['license:read', 'license:manage'],
  errors: LICENSE_ERRORS,
  events: [LICENSE_CREATED, LICENSE_CHANGED, LICENSE_EXPIRING, LICENSE_EXPIRED, LICENSE_MACHINE_PENDING].map(
    ({ event }) => event,
  ),
  tags: { license: 'Licenses: validation by applications, files for offline machines, administration.' },
  collections: COLLECTIONS,
  from: import.meta.url,
  setup(ctx) {
    const deps = createDeps(ctx);
    const services = buildServices(ctx, deps);
    const { directory, hashes, outboxes } = services;
    const inUse = async (product: string): Promise<boolean> =>
      (await deps.licenses.find({ filter: { product }, limit: 1 })).items.length > 0;
    const parts = { ...services, deps };
    const sender = new LicenseKeySender(parts);
    return {
      services: { [LICENSES.name]: directory },
      extensions: [
        extend(PROJECT_USAGE, { noun: 'licenses', isInUse: inUse }),
        extend(PROJECT_PARTS, buildLicensePart(parts)),
        extend(SEARCH_PROVIDERS, createLicenseSearch(services.licenses)),
        extend(ONBOARDING_STEPS, {
          id: 'license',
          order: 60,
          title: 'Issue a license',
          text: 'License keys unlock downloads and can be verified online or offline.',
          page: { label: 'New license', href: '/licenses/new' },
          isDone: async () => (await deps.licenses.find({ limit: 1 })).items.length > 0,
          command: null,
          token: null,
        }),
        extend(SEARCH_PROVIDERS, createMachineSearch(deps)),
        extend(AUDIT_TARGETS, createLicenseTargets(deps)),
      ],
      routes: [...validationRoutes(services), ...adminRoutes(services)],
      pages: [
        ...listPages(parts),
        ...editPages(parts, sender),
        ...licensePages(parts, sender),
        ...approvalPages(parts),
        ...customerPages(parts),
      ],
      panels: approvalPanels(parts),
      jobs: createJobs(services, deps),
      start: async () => hashes.scheduleMissing(),
      stop: async () => {
        await hashes.stop();
        for (const outbox of outboxes) await outbox.drain();
      },
    };
  },
});
