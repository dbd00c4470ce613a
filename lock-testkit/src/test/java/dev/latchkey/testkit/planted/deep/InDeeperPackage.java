package dev.latchkey.testkit.planted.deep;

final class InDeeperPackage {}
