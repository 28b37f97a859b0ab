// Web pages in a real Chromium: what a page of another site sends does not reach the provider, also
// after DNS rebinding; the pages that the user allows, and the gateway's own, can call it. Skipped
// where there is no Chromium.

import { createServer, type RequestListener } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Sidecar } from "stream-sidecar";
import { behindGateway, CHAT, closeServers, listening, QUESTION, said, streaming } from "./gateways.js";
import { Chromium, CHROMIUM } from "./chromium.js";
import { REAL } from "../../typescript/test/support.js";

describe.skipIf(CHROMIUM === undefined)("in Chromium", () => {
  let [sidecar, chromium]: [Sidecar?, Chromium?] = [];
  let [gateway, site] = [0, 0];
  let seen: string[] = [];

  /** A provider that lets every page ask it and read its answers. */
  const provider: RequestListener = (request, answer) => {
    seen.push(`${request.method} ${request.url}`);
    answer.setHeader("Access-Control-Allow-Origin", "*");
    answer.setHeader("Access-Control-Allow-Headers", "*");
    if (request.method === "POST") streaming(request, answer);
    else answer.writeHead(200, { "content-type": "text/html" }).end("<p>models</p>");
  };

  beforeAll(async () => {
    sidecar = await Sidecar.spawn(REAL);
    site = await listening(
      createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<p>page</p>")),
    );
    const allowOrigins = [`http://friend.example:${site}`];
    ({ port: gateway } = await behindGateway(provider, sidecar, { allowOrigins }));
    chromium = new Chromium(CHROMIUM!);
  });
  afterAll(async () => {
    await chromium?.close();
    closeServers();
    await sidecar?.shutdown();
  });
  beforeEach(() => void (seen = []));

  /** The script, in which URL and BODY are the gateway's address and a question. */
  const inPage = (host: string, port: number, script: string) => {
    const names = `const [URL, BODY] = ${JSON.stringify([`http://127.0.0.1:${gateway}`, QUESTION])};`;
    return chromium!.run(`http://${host}:${port}/`, `(async () => { ${names} ${script} })()`);
  };

  const JSON_FETCH = `
    const headers = { "content-type": "application/json", authorization: "Bearer none" };
    return fetch(URL + "${CHAT}", { method: "POST", headers, body: BODY }).then((answer) => answer.text(), String);`;

  test.each([
    ["a fetch, with its preflight", JSON_FETCH, "TypeError: Failed to fetch"],
    [
      "a fetch without a preflight",
      `return (await fetch(URL + "${CHAT}", { method: "POST", mode: "no-cors", body: BODY })).type;`,
      "opaque",
    ],
    [
      "a form",
      `document.body.innerHTML = '<iframe name="f"></iframe><form target="f" method="POST" enctype="text/plain"><input name="a"></form>';
       const [form, frame] = [document.querySelector("form"), document.querySelector("iframe")];
       form.action = URL + "${CHAT}";
       const loaded = new Promise((resolve) => (frame.onload = resolve));
       form.submit();
       return (await loaded).type;`,
      "load",
    ],
    [
      "an image",
      `const image = new Image(); image.src = URL + "/v1/models"; return new Promise((resolve) => (image.onload = image.onerror = ({ type }) => resolve(type)));`,
      "error",
    ],
    [
      "a script",
      `const script = document.createElement("script"); script.src = URL + "/v1/models"; document.head.append(script); return new Promise((resolve) => (script.onload = script.onerror = ({ type }) => resolve(type)));`,
      "error",
    ],
    [
      "a beacon",
      `return String(navigator.sendBeacon(URL + "${CHAT}", BODY)) + (await fetch(URL + "/health", { mode: "no-cors" })).type;`,
      "trueopaque",
    ],
    [
      "a web socket",
      `const socket = new WebSocket(URL.replace("http", "ws") + "/v1/realtime"); return new Promise((resolve) => (socket.onopen = socket.onerror = ({ type }) => resolve(type)));`,
      "error",
    ],
    [
      "a frame in a sandbox, which has no origin",
      `const frame = document.createElement("iframe");
       frame.sandbox = "allow-scripts";
       const told = new Promise((resolve) => (onmessage = ({ data }) => resolve(data)));
       frame.srcdoc = "<script>fetch('" + URL + "${CHAT}', { method: 'POST', body: '{}' }).then(() => 'answered', String).then((said) => parent.postMessage(said, '*'))</script>";
       document.body.append(frame);
       return told;`,
      "TypeError: Failed to fetch",
    ],
  ])("%s of a foreign page does not reach the provider", async (_, script, told) => {
    expect(await inPage("evil.example", site, script)).toBe(told);
    expect(seen).toEqual([]);
  });

  test("a name that was made to resolve to this machine is refused", async () => {
    const script = `
      const answer = await fetch("${CHAT}", { method: "POST", body: BODY });
      return [location.host, document.body.innerText, answer.status];`;
    const [host, page, status] = (await inPage("rebound.example", gateway, script)) as [string, string, number];
    expect([host, status]).toEqual([`rebound.example:${gateway}`, 403]);
    expect(page).toContain("gateway_error");
    expect(seen).toEqual([]);
  });

  test("an allowed page gets a clean answer", async () => {
    expect(said(String(await inPage("friend.example", site, JSON_FETCH)))).toBe("On main.");
    expect(seen).toEqual([`POST ${CHAT}`]);
  });

  test("a page that the gateway passes on can call it", async () => {
    expect(said(String(await inPage("127.0.0.1", gateway, JSON_FETCH)))).toBe("On main.");
    expect(seen.filter((each) => each !== "GET /favicon.ico")).toEqual(["GET /", `POST ${CHAT}`]);
  });
});
