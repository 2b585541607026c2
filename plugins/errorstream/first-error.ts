/** The command that reports a first error; every empty page shows it. Pure. */

/** @param baseUrl `server.base_url` */
export function firstErrorCommand(baseUrl: string): string {
  const error = {
    project: 'shop',
    error_level: 'error',
    exception_class: 'TypeError',
    error_message: 'price is undefined',
    file: 'src/basket.ts',
    line: 41,
  };
  return [
    `curl ${baseUrl.replace(/\/$/, '')}/api/errors/v1/report \\`,
    `  -H "Authorization: Bearer $AOS_TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(error)}'`,
  ].join('\n');
}
