/**
 * openapi.json before openapi-generator: its clients in Go and in Java (library `native`) compile,
 * report an error to the running service and list it.
 */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { SHORT_RUN_JAVA_OPTIONS } from '../../support/programs.js';
import { TestService } from '../../support/service.js';
import { run, TOOLS } from './programs.js';
import { isAvailable } from '../../support/requirements.js';

const GO = `package main

import (
	"context"
	"fmt"
	"os"

	aos "example.com/shop/aos"
)

func main() {
	settings := aos.NewConfiguration()
	settings.Servers = aos.ServerConfigurations{{URL: os.Getenv("SVC_URL")}}
	client := aos.NewAPIClient(settings)
	ctx := context.WithValue(context.Background(), aos.ContextAccessToken, os.Getenv("SVC_TOKEN"))
	report := aos.NewErrorReport("shop", aos.ERRORLEVEL_ERROR, "Boom")
	report.SetExceptionClass("Gopher")
	reported, answer, err := client.ErrorsAPI.ReportError(ctx).ErrorReport(*report).Execute()
	if err != nil {
		panic(err)
	}
	list, _, err := client.BugtrackerAPI.ListItems(ctx).ExceptionClass([]string{"Gopher"}).Execute()
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.StatusCode, reported.GetCreated(), len(list.GetItems()), list.GetItems()[0].GetExceptionClass())
}
`;

const JAVA = `import aos.ApiClient;
import aos.api.BugtrackerApi;
import aos.api.ErrorsApi;
import aos.model.*;
import java.util.List;

public class Shop {
  public static void main(String[] words) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("SVC_URL"));
    client.setRequestInterceptor(r -> r.header("Authorization", "Bearer " + System.getenv("SVC_TOKEN")));
    ErrorReport report = new ErrorReport().project("shop").errorLevel(ErrorLevel.ERROR).errorMessage("Boom");
    report.exceptionClass("Duke");
    ErrorReported reported = new ErrorsApi(client).reportError(report);
    ItemPage list = new BugtrackerApi(client).listItems(
        null, List.of(ItemType.ERROR), null, null, null, null, List.of("Duke"), null, null, null, null, null, null,
        null, null, null, null, null, null, null, 5, null, null, null, null, null);
    Item first = list.getItems().get(0);
    System.out.println(reported.getCreated() + " " + list.getItems().size() + " " + first.getExceptionClass());
  }
}
`;

/** Programs here work for a second: what would make them faster takes longer than that. */
const UNOPTIMIZED = ['-gcflags=example.com/shop/...=-N -l -dwarf=false -c=1', '-ldflags=-s -w'];
/**
 * The compiler collects its garbage less often; with the options above a client takes six seconds
 * of ten.
 */
const SHORT_GO = { CGO_ENABLED: '0', GOGC: '400' };
const SHORT_COMPILER = SHORT_RUN_JAVA_OPTIONS.map((option) => `-J${option}`);
/** Only what compiles: no tests and no pages beside it. */
const SOURCES = {
  ...Object.fromEntries(['models', 'apis', 'supportingFiles'].map((name) => [name, ''])),
  ...Object.fromEntries(['apiTests', 'modelTests', 'apiDocs', 'modelDocs'].map((name) => [name, 'false'])),
};
/** What the generator makes, by the folders that it goes to. */
const CLIENTS = {
  'go/aos': {
    generatorName: 'go',
    additionalProperties: { packageName: 'aos', withGoMod: false, enumClassPrefix: true },
  },
  java: {
    generatorName: 'java',
    library: 'native',
    additionalProperties: { invokerPackage: 'aos', apiPackage: 'aos.api', modelPackage: 'aos.model' },
  },
};

describe('openapi.json with openapi-generator', function () {
  let service: TestService;
  let folder: string;
  before(async function () {
    if (!isAvailable('openapi', existsSync(join(TOOLS, '.complete')))) this.skip();
    service = await TestService.createInProcess();
    await service.createProject('shop');
    folder = await mkdtemp(join(tmpdir(), 'aos-openapi-generator-'));
    await writeFile(join(folder, 'openapi.json'), await (await fetch(`${service.url}/api/openapi.json`)).text());
    await generate();
  });
  after(async () => {
    await service?.dispose();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  async function done(program: string, args: string[], env: NodeJS.ProcessEnv = {}, cwd = folder): Promise<string> {
    const [code, output] = await run(program, args, env, cwd);
    expect(code, `${program} ${args.join(' ')}\n${output.slice(-6_000)}`).to.equal(0);
    return output.trim();
  }
  /**
   * Both clients by one program: its start and reading the description take longer than writing a
   * client.
   */
  async function generate(): Promise<void> {
    const configurations = Object.entries(CLIENTS).map(async ([outputDir, client], i) => {
      const whole = { inputSpec: 'openapi.json', outputDir, globalProperties: SOURCES, ...client };
      await writeFile(join(folder, `client-${i}.json`), JSON.stringify(whole));
      return `client-${i}.json`;
    });
    const [jar = ''] = await readdir(join(TOOLS, 'generator'));
    const program = [...SHORT_RUN_JAVA_OPTIONS, '-jar', join(TOOLS, 'generator', jar)];
    await done('java', [...program, 'batch', '--fail-fast', ...(await Promise.all(configurations))]);
  }
  const asking = async (): Promise<NodeJS.ProcessEnv> => ({
    SVC_URL: service.url,
    SVC_TOKEN: await service.createToken('bugtracker:report,bugtracker:read'),
  });

  it('generates a Go client that compiles, reports an error and lists it', async () => {
    await writeFile(join(folder, 'go', 'go.mod'), 'module example.com/shop\n\ngo 1.21\n');
    await writeFile(join(folder, 'go', 'main.go'), GO);
    await done('go', ['build', ...UNOPTIMIZED, '-o', 'shop', '.'], SHORT_GO, join(folder, 'go'));
    const said = await done(join(folder, 'go', 'shop'), [], await asking());
    expect(said).to.equal('201 true 1 Gopher');
  });

  it('generates a Java client that compiles, reports an error and lists it', async () => {
    const sources = (await readdir(join(folder, 'java', 'src', 'main', 'java'), { recursive: true }))
      .filter((file) => file.endsWith('.java'))
      .map((file) => join('java', 'src', 'main', 'java', file));
    await writeFile(join(folder, 'sources'), sources.join('\n'));
    await writeFile(join(folder, 'java', 'Shop.java'), JAVA);
    await mkdir(join(folder, 'java', 'classes'));
    const path = ['java/classes', `${join(TOOLS, 'java')}/*`].join(delimiter);
    await done('javac', [
      ...SHORT_COMPILER,
      '-nowarn',
      '-d',
      'java/classes',
      '-cp',
      path,
      'java/Shop.java',
      '@sources',
    ]);
    const said = await done('java', [...SHORT_RUN_JAVA_OPTIONS, '-cp', path, 'Shop'], await asking());
    expect(said).to.equal('true 1 Duke');
  });
});
