import type { CommandCall, CommandSpec } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { parseMonitorCsv } from './monitor-csv.js';
import { parseHealthchecks } from './healthchecks.js';
import { NotImportable, type SourceFields, type ImportedMonitor } from './imported-monitor.js';
import type { MonitorImporter, ImportReport } from './monitor-importer.js';
import { KUMA_TABLES, parseKumaBackup, parseKumaTables } from './kuma.js';

interface ImportFormat {
  name: string;
  summary: string;
  parse: (text: string) => ImportedMonitor[];
  tables?: { names: readonly string[]; parse: (tables: Record<string, SourceFields[]>) => ImportedMonitor[] };
}

const IMPORT_FORMATS: readonly ImportFormat[] = [
  {
    name: 'healthchecks',
    summary: 'Import the checks from the management API of Healthchecks; their ping URLs keep working.',
    parse: parseHealthchecks,
  },
  {
    name: 'kuma',
    summary: 'Import the monitors of Uptime Kuma from its backup, its database kuma.db, or its API.',
    parse: parseKumaBackup,
    tables: { names: KUMA_TABLES, parse: parseKumaTables },
  },
  {
    name: 'csv',
    summary: 'Import monitors from a CSV file whose first line contains field names of monitors and probes.',
    parse: parseMonitorCsv,
  },
];

function formatReport({ created, updated, known, notes }: ImportReport): string {
  const lines = [`Created ${created.length} monitors; updated ${updated.length} of ${known.length} existing ones.`];
  if (notes.length > 0)
    lines.push('', 'Without a counterpart:', ...notes.map(({ monitor, note }) => `  ${monitor}: ${note}`));
  return lines.join('\n');
}

/** @throws NotImportable */
async function readMonitors({ parse, tables }: ImportFormat, call: CommandCall): Promise<ImportedMonitor[]> {
  const [file = ''] = call.args;
  if (file === '-' || call.read === undefined) return parse(await call.stdin());
  const rows = tables === undefined ? null : ((await call.readTables?.(file, tables.names)) ?? null);
  if (rows === null || tables === undefined) return parse(await call.read(file));
  const [first = ''] = tables.names;
  if (rows[first] === undefined) throw new NotImportable(`The database has no table ${first}.`);
  return tables.parse(rows);
}

export const buildImportCommands = (importer: MonitorImporter): CommandSpec[] =>
  IMPORT_FORMATS.map((reader) => ({
    name: `import ${reader.name}`,
    summary: reader.summary,
    args: ['file'],
    run: async (call) => {
      try {
        const imported = await readMonitors(reader, call);
        const report = await importer.importAll(imported, (done, all) => call.progress?.(`${done} of ${all} monitors`));
        return { json: report, text: formatReport(report) };
      } catch (error) {
        if (error instanceof NotImportable) throw invalid({ file: error.message });
        throw error;
      }
    },
  }));
