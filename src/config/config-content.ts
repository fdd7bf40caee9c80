// The type of an rtfig.toml after validation, derived from the table of its keys.
import type { AnyKey, ConfigValueType, TypedKey } from "./keys.ts";

interface ValueTypes {
  readonly boolean: boolean;
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly strings: readonly string[];
}

/** The first part of a dotted name. */
type FirstPart<Name extends string> = Name extends `${infer First}.${string}` ? First : Name;

/** The keys in the table `First`, without this part of their names. */
type KeysIn<First extends string, Key> =
  Key extends TypedKey<`${First}.${infer Rest}`, infer Type> ? TypedKey<Rest, Type> : never;

type ValueOf<Name extends string, Key> = Key extends TypedKey<Name, infer Type> ? ValueTypes[Type] : never;

type TableIn<Keys> = [Keys] extends [TypedKey<string, ConfigValueType>]
  ? [Keys] extends [never]
    ? never
    : TableOf<Keys>
  : never;

type ItemOf<First extends string, Keys> = ValueOf<First, Keys> | TableIn<KeysIn<First, Keys>>;

/** A table has names from the table of keys, or any names: "*". */
type TableOf<Keys extends TypedKey<string, ConfigValueType>> = [FirstPart<Keys["name"]>] extends ["*"]
  ? { readonly [name: string]: ItemOf<"*", Keys> }
  : { readonly [First in FirstPart<Keys["name"]>]?: ItemOf<First, Keys> };

export type ConfigContent = TableOf<AnyKey>;

/** A table within the content. */
export type ConfigSection<Name extends keyof ConfigContent> = Extract<ConfigContent[Name], object>;
