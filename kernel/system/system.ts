import { CATALOG, MIGRATIONS, RUNTIME, SYSTEM } from '../../ports/domain/system.js';
import type { HttpServer } from '../../ports/http-server.js';
import type { Migrator } from '../migrations/migrator.js';
import type { ProvidedServices } from '../plugin-run.js';
import { createCatalog } from './catalog.js';
import { createServiceMigrations } from './migrations.js';
import { createRuntime, type RuntimeParts } from './runtime.js';

export function provideSystem(
  services: ProvidedServices,
  parts: RuntimeParts & { migrator: Migrator; http: HttpServer | undefined },
): void {
  const runtime = createRuntime(parts);
  const migrations = createServiceMigrations(parts.migrator);
  const catalog = createCatalog(parts.runs, parts.http);
  services.provide(RUNTIME.name, runtime, null);
  services.provide(MIGRATIONS.name, migrations, null);
  services.provide(CATALOG.name, catalog, null);
  services.provide(SYSTEM.name, { ...runtime, ...migrations, ...catalog }, null);
}
