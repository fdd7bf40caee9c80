// Where the session bus is, by its address and the environment.
import { expect, test } from "bun:test";
import { parseAddresses, sessionBusAddress } from "../../../platform/secrets/linux/dbus/address.ts";

test.each([
  ["unix:path=/a", ["/a"]],
  ["unix:path=/a,guid=0", ["/a"]],
  ["unix:guid=0,path=/a%20b%2c%3b", ["/a b,;"]],
  ["unix:path=/100%", ["/100%"]],
  ["unix:path=/a=b", ["/a=b"]],
  ["unix:abstract=/x", ["\0/x"]],
  ["unix:abstract=/x,path=/y", ["\0/x"]],
  ["unix:runtime=yes", ["/run/me/bus"]],
  ["unix:runtime=no", []],
  ["unix:runtime=no,path=/a", ["/a"]],
  ["unix:=/a", []],
  ["unix:path", []],
  ["unix:guid=0", []],
  ["unixexec:path=/a", []],
  ["tcp:path=/a", []],
  ["tcp:host=x;unix:path=/a;;unix:path=/b", ["/a", "/b"]],
])("the address of a session bus: %s", (list, paths) => {
  const endpoints = parseAddresses(list, { XDG_RUNTIME_DIR: "/run/me" }, 7);
  expect(endpoints.map(({ path }) => path)).toEqual(paths);
  for (const { label } of endpoints) expect(list.split(";")).toContain(label);
});

test.each([
  [{ DBUS_SESSION_BUS_ADDRESS: "unix:path=/a", XDG_RUNTIME_DIR: "/run/me" }, "/a"],
  [{ DBUS_SESSION_BUS_ADDRESS: "", XDG_RUNTIME_DIR: "/run/me" }, "/run/me/bus"],
  [{ XDG_RUNTIME_DIR: "/a;unix:path=b, 100%/é" }, "/a;unix:path=b, 100%/é/bus"],
  [{ XDG_RUNTIME_DIR: "" }, "/run/user/7/bus"],
  [{}, "/run/user/7/bus"],
])("%j gives the address %s", (env: Record<string, string>, path) => {
  expect(parseAddresses(sessionBusAddress(env, 7), env, 7).map((endpoint) => endpoint.path)).toEqual([path]);
});
