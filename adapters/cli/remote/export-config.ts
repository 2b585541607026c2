import { Document, isScalar, visit } from 'yaml';
import type { CommandSpec } from '../../../kernel/contract/index.js';
import { hasControlCharacters } from '../../../lib/text/printable.js';
import { CONNECTION_OPTIONS, getTexts, ServiceClient } from './client.js';

interface ExportAnswer {
  document: Record<string, unknown>;
  secrets: string[];
  warnings: string[];
}

/** @param schemaUrl for editors that complete the document */
export function formatConfig({ document, secrets, warnings }: ExportAnswer, schemaUrl: string): string {
  const yaml = new Document(document);
  visit(yaml, {
    Scalar: (_, node) => {
      // Printed text has no control characters, so they must be escaped.
      if (isScalar(node) && typeof node.value === 'string' && hasControlCharacters(node.value))
        node.type = 'QUOTE_DOUBLE';
    },
  });
  const lines = [
    `yaml-language-server: $schema=${schemaUrl}`,
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...(secrets.length > 0
      ? ['Secrets are not exported and stay unchanged. Set one with a reference such as ${env:NAME}:']
      : []),
    ...secrets.map((path) => `  ${path}`),
  ];
  yaml.commentBefore = lines.map((line) => ` ${line}`).join('\n');
  return yaml.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity }).trimEnd();
}

export const exportConfigCommand: CommandSpec = {
  name: 'export-config',
  summary: 'Print the configuration of a running service as a document for "aos apply"',
  options: {
    project: { type: 'string', value: 'slug', summary: 'Only this project and its objects' },
    ...CONNECTION_OPTIONS,
  },
  run: async (call) => {
    const client = await ServiceClient.open(call);
    const answer = await client.request<ExportAnswer>('GET', '/api/admin/v1/config', {
      query: getTexts(call, ['project']),
    });
    const schemaUrl = new URL('/api/admin/v1/config.schema.json', client.url).href;
    return { json: answer, text: formatConfig(answer, schemaUrl) };
  },
};
