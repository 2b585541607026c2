/** `aos import healthchecks | kuma <file>` (contract 30, beyond the specification). */
import type { CommandSpec } from '../../../kernel/contract.js';
import { invalid } from '../../../kernel/errors.js';
import { checksOf } from './healthchecks.js';
import { NotImportable, type ImportedMonitor } from './imported.js';
import type { Importer, ImportReport } from './importer.js';
import { monitorsOf } from './kuma.js';

const READERS: readonly [name: string, summary: string, read: (text: string) => ImportedMonitor[]][] = [
  [
    'healthchecks',
    'Take over the checks that the management API of Healthchecks lists; their ping addresses keep working.',
    checksOf,
  ],
  [
    'kuma',
    'Take over the monitors of a backup of Uptime Kuma; push addresses keep working, what it asks becomes probes.',
    monitorsOf,
  ],
];

function textOf({ created, known, notes }: ImportReport): string {
  const lines = [`Made ${created.length} monitors; ${known.length} were here already.`];
  if (notes.length > 0)
    lines.push('', 'Without a counterpart:', ...notes.map(({ monitor, note }) => `  ${monitor}: ${note}`));
  return lines.join('\n');
}

export const importCommands = (importer: Importer): CommandSpec[] =>
  READERS.map(([name, summary, parse]) => ({
    name: `import ${name}`,
    summary,
    args: ['file'],
    run: async (call) => {
      const [file = ''] = call.args;
      const text = await (file === '-' || call.read === undefined ? call.stdin() : call.read(file));
      try {
        const report = await importer.take(parse(text), (done, all) => call.progress?.(`${done} of ${all} monitors`));
        return { json: report, text: textOf(report) };
      } catch (error) {
        if (error instanceof NotImportable) throw invalid({ file: error.message });
        throw error;
      }
    },
  }));
