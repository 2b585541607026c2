/** What the kernel itself provides: each part under its own token, and all of them under `kernel.system`. */
import { CATALOG, MIGRATIONS, RUNTIME, SYSTEM } from '../../ports/domain/system.js';
import type { HttpServer } from '../../ports/http-server.js';
import type { Migrator } from '../migrating/migrator.js';
import type { ProvidedServices } from '../plugin-run.js';
import { catalogOf } from './catalog.js';
import { migrationsOf } from './migrations.js';
import { runtimeOf, type RuntimeParts } from './runtime.js';

export function provideSystem(
  services: ProvidedServices,
  parts: RuntimeParts & { migrator: Migrator; http: HttpServer | undefined },
): void {
  const runtime = runtimeOf(parts);
  const migrations = migrationsOf(parts.migrator);
  const catalog = catalogOf(parts.runs, parts.http);
  services.provide(RUNTIME.name, runtime, null);
  services.provide(MIGRATIONS.name, migrations, null);
  services.provide(CATALOG.name, catalog, null);
  services.provide(SYSTEM.name, { ...runtime, ...migrations, ...catalog }, null);
}
